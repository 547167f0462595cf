import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { accountQueries } from '../../projections/accounts.ts';
import type { Core } from '../core.ts';
import { ServiceError } from '../errors.ts';
import { accountByEmail } from './account.ts';
import {
  type Command,
  type Invocation,
  requiredOption,
  textOption,
  type CommandContext,
  UsageError,
} from './command.ts';
import { CONVERT_FLAGS, conversionOptions } from './convert-options.ts';
import type { Converted, LocalAccount } from './convert-locally.ts';
import { type PdfTarget, pdfTarget } from './pdf-target.ts';
import { type ConversionOptions, findService, SERVICE_OPTIONS, type Service } from './service.ts';

/**
 * Reads the document before anything is asked for, so that no credit goes for one that is not there.
 * @throws {UsageError} it is neither a file nor an address that can be converted
 */
async function sourceOf(fileOrUrl: string): Promise<ConversionOptions> {
  if (fileOrUrl === '-') return { html: await text(process.stdin) };
  if (/^https?:\/\//i.test(fileOrUrl)) return { url: fileOrUrl };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(fileOrUrl)) {
    throw new UsageError(`${fileOrUrl} is neither an HTML file nor an http or https address.`);
  }
  const stats = await stat(fileOrUrl).catch(() => undefined);
  if (stats?.isDirectory()) {
    throw new UsageError(`${fileOrUrl} is a directory: name an HTML file in it.`);
  }
  try {
    return { html: await readFile(fileOrUrl, 'utf8') };
  } catch (error) {
    if (!stats && HOST.test(fileOrUrl)) {
      throw new UsageError(`There is no file ${fileOrUrl}. Did you mean https://${fileOrUrl}?`);
    }
    if (!stats) throw new UsageError(`There is no file ${fileOrUrl}.`);
    throw new Error(`${fileOrUrl} cannot be read`, { cause: error });
  }
}

/** A host's name and a path, but no name of an HTML file. */
const HOST = /^(?!.*\.html?$)[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}(:\d+)?(\/.*)?$/i;

/**
 * The service that converts; undefined where the store of the settings does.
 * @throws {UsageError} the options contradict each other, or the key is missing
 */
async function remoteOf(
  fileOrUrl: string,
  invocation: Invocation,
  context: CommandContext,
): Promise<Service | undefined> {
  if (invocation.values['api-key-stdin'] === true && fileOrUrl === '-') {
    throw new UsageError('The document and the key cannot both come from standard input.');
  }
  // An account of the store says where to convert, whatever environment and sign-in say.
  if (textOption(invocation, 'account') === undefined)
    return await findService(invocation, context);
  const given = Object.keys(SERVICE_OPTIONS).find((name) => invocation.values[name] !== undefined);
  if (given === undefined) return undefined;
  throw new UsageError(`--account is for the store of the settings, not for --${given}.`);
}

async function convertRemotely(
  { client, server }: Service,
  options: ConversionOptions,
  { output }: CommandContext,
): Promise<Converted> {
  // A key of its own lets the request be sent again while the service is busy.
  const { id } = await client.create(options, { idempotencyKey: randomUUID() });
  output.waiting(`${id} is accepted; waiting for ${server}`);
  const record = await client.wait(id);
  return { record, open: async () => Readable.fromWeb(await client.download(record)) };
}

async function accountFor(core: Core, email: string | undefined): Promise<LocalAccount> {
  if (email !== undefined) return { id: (await accountByEmail(core, email)).id, email };
  await core.caughtUp();
  const first = core.readModel.query(accountQueries).first();
  if (!first) {
    throw new ServiceError(
      'not_found',
      "There is no account yet: 'pressledger account create <email>' opens one.",
    );
  }
  return { id: first.id, email: await core.vault.unseal(first.id, first.email) };
}

async function finish(
  { record, open }: Converted,
  target: PdfTarget,
  { output }: CommandContext,
): Promise<void> {
  if (record.status === 'failed') {
    output.json(record);
    throw new Error(`Conversion ${record.id} failed: ${record.error_message ?? 'no reason given'}`);
  }
  const facts = await target.write(open);
  output.json(record);
  target.tell(record.id, facts);
}

export const convert: Command = {
  name: 'convert',
  usage: '<file-or-url> -o <file> [--account <email> | --server <url>] [options]',
  summary: 'Turn an HTML file or a URL into a PDF, here or by a service elsewhere.',
  examples: [
    'convert invoice.html -o invoice.pdf --page-size A5',
    'convert https://example.com/ -o example.pdf --server https://pdf.example.com',
    'convert - -o - < invoice.html > invoice.pdf',
  ],
  positionals: { 'file-or-url': 'an HTML file, -: standard input, or an http(s) address' },
  options: {
    output: { value: 'file', short: 'o', help: 'the PDF to write; -: standard output' },
    account: { value: 'email', help: 'whose credits to use (default: the first account)' },
    ...SERVICE_OPTIONS,
    ...CONVERT_FLAGS,
  },
  run: async (invocation: Invocation, context) => {
    const [fileOrUrl = ''] = invocation.positionals;
    const path = requiredOption(invocation, 'output');
    const remote = await remoteOf(fileOrUrl, invocation, context);
    const target = await pdfTarget(path, context);
    const options = { ...(await sourceOf(fileOrUrl)), ...conversionOptions(invocation) };
    if (remote) {
      await finish(await convertRemotely(remote, options, context), target, context);
      return;
    }
    await context.withCore(async (core) => {
      const account = await accountFor(core, textOption(invocation, 'account'));
      const { convertLocally } = await import('./convert-locally.ts');
      await finish(await convertLocally(core, account, options, context), target, context);
    });
  },
};
