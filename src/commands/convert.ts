import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { accountQueries } from '../../projections/accounts.ts';
import { PressledgerClient } from '../client/client.ts';
import type { ConversionOptions } from '../client/types.ts';
import type { ClientConfig } from '../config.ts';
import type { Core } from '../core.ts';
import { ServiceError } from '../errors.ts';
import { accountByEmail } from './account.ts';
import {
  type Command,
  counted,
  type Invocation,
  requiredOption,
  secretFromInput,
  textOption,
  type CommandContext,
  UsageError,
} from './command.ts';
import { CONVERT_FLAGS, conversionOptions } from './convert-options.ts';
import type { FilesBeside } from './convert-files.ts';
import type { Converted } from './convert-locally.ts';
import { type PdfTarget, pdfTarget } from './pdf-target.ts';

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
    throw new Error(`${fileOrUrl} cannot be read`, { cause: error });
  }
}

/** A host's name and a path, but no name of an HTML file. */
const HOST = /^(?!.*\.html?$)[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}(:\d+)?(\/.*)?$/i;

/** A service elsewhere, and the credential there. */
interface Remote {
  readonly server: string;
  readonly apiKey: string;
}

/**
 * The service that converts; undefined where the store of the settings does.
 * @throws {UsageError} it is not the address of a service, or the key is missing or given twice
 */
async function remoteOf(
  fileOrUrl: string,
  invocation: Invocation,
  environment: ClientConfig,
): Promise<Remote | undefined> {
  const [server, account, key] = ['server', 'account', 'api-key'].map((name) =>
    textOption(invocation, name),
  );
  const keyFromInput = invocation.values['api-key-stdin'] === true;
  if (server !== undefined && account !== undefined) {
    throw new UsageError('--account is for the store of the settings, not for a --server.');
  }
  if (key !== undefined && keyFromInput) {
    throw new UsageError('--api-key and --api-key-stdin are two ways to give one key: choose one.');
  }
  if (keyFromInput && fileOrUrl === '-') {
    throw new UsageError('The document and the key cannot both come from standard input.');
  }
  // An account of the store says where to convert, whatever the environment says.
  const chosen = server ?? (account === undefined ? environment.server : undefined);
  if (chosen === undefined) {
    if (key === undefined && !keyFromInput) return undefined;
    throw new UsageError('A key is for a service: give --server too, or set PRESSLEDGER_SERVER.');
  }
  const address = addressOf(chosen);
  const apiKey = key ?? (keyFromInput ? await secretFromInput() : environment.apiKey);
  if (apiKey === undefined || apiKey === '') {
    throw new UsageError(
      'A service needs a key: set PRESSLEDGER_API_KEY, or pipe the key in with --api-key-stdin.',
    );
  }
  return { server: address, apiKey };
}

/**
 * The address of a service, with the scheme that was left out: a key goes unencrypted to this machine only.
 * @throws {UsageError} it is not one
 */
function addressOf(server: string): string {
  const scheme = /^(localhost|127\.[\d.]+|\[::1\])(:|\/|$)/i.test(server) ? 'http' : 'https';
  const address = server.includes('://') ? server : `${scheme}://${server}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return address;
  throw new UsageError('A server is an http or https address such as http://localhost:8080.');
}

async function convertRemotely(
  remote: Remote,
  options: ConversionOptions,
  { lacking }: Pick<FilesBeside, 'lacking'>,
  context: CommandContext,
): Promise<Converted> {
  const client = new PressledgerClient(remote);
  // A key of its own lets the request be sent again while the service is busy.
  const { id } = await client.create(options, { idempotencyKey: randomUUID() });
  context.output.progress(`${id} is accepted; waiting for the PDF`);
  const record = await client.wait(id);
  // The manifest stays with the service.
  const notLoaded = async () => lacking;
  return { record, notLoaded, open: async () => Readable.fromWeb(await client.download(record)) };
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

const MAX_TOLD = 20;

/** `2 resources could not be loaded: …` */
function inOneLine(lines: readonly string[]): string {
  const rest = lines.length > MAX_TOLD ? ` and ${lines.length - MAX_TOLD} more` : '';
  const told = lines.slice(0, MAX_TOLD).join(', ');
  return `${counted(lines.length, 'resource')} could not be loaded: ${told}${rest}`;
}

const notWhole = (lines: readonly string[]): string =>
  `${inOneLine(lines)}. With --strict no PDF is written.`;

/** Takes what lies beside an HTML file; of a URL there is nothing to take. */
async function besideOf(
  { html }: ConversionOptions,
  fileOrUrl: string,
  base: string | undefined,
): Promise<FilesBeside> {
  if (html !== undefined) {
    const { filesBeside } = await import('./convert-files.ts');
    return await filesBeside(html, fileOrUrl, base);
  }
  if (base !== undefined) throw new UsageError('--base is for HTML, not for an address.');
  return { files: {}, lacking: [], reasonFor: () => '' };
}

async function finish(
  { record, notLoaded, open }: Converted,
  target: PdfTarget,
  strict: boolean,
  { output }: CommandContext,
): Promise<void> {
  if (record.status === 'failed') {
    output.json(record);
    throw new Error(`Conversion ${record.id} failed: ${record.error_message ?? 'no reason given'}`);
  }
  const lines = await notLoaded();
  const told = lines.length === 0 ? record : { ...record, warnings: lines };
  if (strict && lines.length > 0) {
    output.json(told);
    throw new Error(notWhole(lines));
  }
  await target.write(open);
  if (lines.length > 0) output.note(inOneLine(lines));
  output.json(told);
  target.tell(record.id);
}

export const convert: Command = {
  name: 'convert',
  usage: 'FILE_OR_URL -o OUT.pdf [--account EMAIL | --server URL] [options]',
  summary: 'Turn an HTML file or a URL into a PDF, here or by a service elsewhere.',
  examples: [
    'convert invoice.html -o invoice.pdf --page-size A5',
    'convert https://example.com/ -o example.pdf --server https://pdf.example.com',
    'convert - -o - --base . < invoice.html > invoice.pdf',
  ],
  positionals: { FILE_OR_URL: 'an HTML file, -: standard input, or an http(s) address' },
  options: {
    output: { value: 'file', short: 'o', help: 'the PDF to write; -: standard output' },
    account: { value: 'email', help: 'whose credits to use (default: the first account)' },
    server: { value: 'url', help: "a service's origin or base URL (default PRESSLEDGER_SERVER)" },
    'api-key': {
      value: 'key',
      help: 'a key there; ps shows it, so better set PRESSLEDGER_API_KEY',
    },
    'api-key-stdin': { help: 'read the key from standard input' },
    base: {
      value: 'dir',
      help: "the folder whose files go with the HTML (default: the HTML file's own)",
    },
    strict: {
      help: 'exit with 1 and write no PDF if a resource could not be loaded (by a service: a file of the HTML)',
    },
    ...CONVERT_FLAGS,
  },
  run: async (invocation: Invocation, context) => {
    const [fileOrUrl = ''] = invocation.positionals;
    const path = requiredOption(invocation, 'output');
    const remote = await remoteOf(fileOrUrl, invocation, context.client);
    const target = await pdfTarget(path, context);
    const source = await sourceOf(fileOrUrl);
    const beside = await besideOf(source, fileOrUrl, textOption(invocation, 'base'));
    const strict = invocation.values['strict'] === true;
    if (strict && remote && source.url !== undefined) {
      throw new UsageError(
        'A service does not tell what an address lacks: --strict needs HTML there.',
      );
    }
    // Nothing is spent on what is known to lack something.
    if (strict && beside.lacking.length > 0) throw new Error(notWhole(beside.lacking));
    const files = Object.keys(beside.files).length === 0 ? {} : { files: beside.files };
    const options = { ...source, ...files, ...conversionOptions(invocation) };
    if (remote) {
      const converted = await convertRemotely(remote, options, beside, context);
      await finish(converted, target, strict, context);
      return;
    }
    await context.withCore(async (core) => {
      const accountId = await accountFor(core, textOption(invocation, 'account'));
      const { convertLocally } = await import('./convert-locally.ts');
      const converted = await convertLocally(core, accountId, options, beside, context);
      await finish(converted, target, strict, context);
    });
  },
};
