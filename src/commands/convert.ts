import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { accountQueries } from '../../projections/accounts.ts';
import { PressledgerClient } from '../client/client.ts';
import type { ConversionOptions } from '../client/types.ts';
import type { Core } from '../core.ts';
import { ServiceError } from '../errors.ts';
import { accountByEmail } from './account.ts';
import {
  type Command,
  type Invocation,
  requiredOption,
  textOption,
  type Toolbox,
  UsageError,
} from './command.ts';
import { CONVERT_FLAGS, conversionOptions } from './convert-options.ts';
import type { Converted } from './convert-here.ts';
import { type PdfTarget, pdfTarget } from './pdf-target.ts';

/** A file that is not there is told before anything is asked for. */
async function sourceOf(fileOrUrl: string): Promise<ConversionOptions> {
  if (fileOrUrl === '-') return { html: await text(process.stdin) };
  if (/^https?:\/\//i.test(fileOrUrl)) return { url: fileOrUrl };
  try {
    return { html: await readFile(fileOrUrl, 'utf8') };
  } catch (error) {
    throw new Error(`${fileOrUrl} cannot be read`, { cause: error });
  }
}

/** @throws {UsageError} it is not the address of a service */
function checkServer(server: string): void {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return;
  throw new UsageError('--server must be an http or https address such as http://localhost:8080.');
}

async function convertThere(
  server: string,
  apiKey: string,
  options: ConversionOptions,
  toolbox: Toolbox,
): Promise<Converted> {
  const client = new PressledgerClient({ server, apiKey });
  // With a key of its own the request may be sent again while the service is busy.
  const { id } = await client.create(options, { idempotencyKey: randomUUID() });
  toolbox.output.progress(`${id} is accepted; waiting for the PDF`);
  const record = await client.wait(id);
  return { record, open: async () => Readable.fromWeb(await client.download(record)) };
}

async function accountFor(core: Core, email: string | undefined): Promise<string> {
  if (email !== undefined) return (await accountByEmail(core, email)).id;
  await core.caughtUp();
  const first = core.readModel.query(accountQueries).first();
  if (!first) {
    throw new ServiceError(
      'not_found',
      "There is no account yet: 'pressledger account create' opens one.",
    );
  }
  return first.id;
}

async function finish(
  { record, open }: Converted,
  target: PdfTarget,
  { output }: Toolbox,
): Promise<void> {
  if (record.status === 'failed') {
    output.json(record);
    throw new Error(`Conversion ${record.id} failed: ${record.error_message ?? 'no reason given'}`);
  }
  await target.write(open);
  output.json(record);
  target.tell(record.id);
}

export const convert: Command = {
  name: 'convert',
  usage: 'FILE_OR_URL -o OUT.pdf [--account E] [--server URL --api-key K] [options]',
  summary: 'Turn an HTML file or a URL into a PDF, here or by a service elsewhere.',
  positionals: { FILE_OR_URL: 'an HTML file, -: standard input, or an http(s) address' },
  options: {
    output: { type: 'string', short: 'o', help: 'the PDF to write; -: standard output' },
    account: { type: 'string', help: 'whose credits to use (default: the first account)' },
    server: { type: 'string', help: "a service's origin or base URL" },
    'api-key': { type: 'string', help: 'a key for --server' },
    ...CONVERT_FLAGS,
  },
  run: async (invocation: Invocation, toolbox) => {
    const [fileOrUrl = ''] = invocation.positionals;
    const path = requiredOption(invocation, 'output');
    const server = textOption(invocation, 'server');
    const apiKey = textOption(invocation, 'api-key');
    if ((server === undefined) !== (apiKey === undefined)) {
      throw new UsageError('--server and --api-key go together.');
    }
    if (server !== undefined) checkServer(server);
    const target = await pdfTarget(path, toolbox);
    const options = { ...(await sourceOf(fileOrUrl)), ...conversionOptions(invocation) };
    if (server !== undefined && apiKey !== undefined) {
      await finish(await convertThere(server, apiKey, options, toolbox), target, toolbox);
      return;
    }
    await toolbox.withCore(async (core) => {
      const accountId = await accountFor(core, textOption(invocation, 'account'));
      const { convertHere } = await import('./convert-here.ts');
      await finish(await convertHere(core, accountId, options, toolbox), target, toolbox);
    });
  },
};
