import { readFile, stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { program } from '../config/copyable-command.ts';
import {
  type CommandContext,
  Interrupted,
  type Invocation,
  type Run,
  requiredOption,
  textOption,
  UsageError,
} from './command.ts';
import { counted } from '../domain/counted.ts';
import type { FilesBeside } from './convert-files.ts';
import { conversionOptions } from './convert-options.ts';
import {
  type Converted,
  convertHere,
  convertRemotely,
  type Interrupt,
  type Job,
} from './convert-places.ts';
import { type PdfTarget, pdfTarget } from './pdf-target.ts';
import { type ConversionOptions, findServiceUnlessAccount } from './service.ts';

/**
 * Reads the document before anything is asked for, so that no credit goes for one that is not there.
 * @throws {UsageError} it is neither a file nor an address that can be converted
 */
async function sourceOf(fileOrUrl: string): Promise<ConversionOptions> {
  if (fileOrUrl === '-') return htmlIn(await text(process.stdin), 'Standard input');
  if (/^https?:\/\//i.test(fileOrUrl)) return { url: fileOrUrl };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(fileOrUrl)) {
    throw new UsageError(`${fileOrUrl} is neither an HTML file nor an http or https address.`);
  }
  const stats = await stat(fileOrUrl).catch(() => undefined);
  let content: string;
  try {
    content = await readFile(fileOrUrl, 'utf8');
  } catch (error) {
    if (!stats && HOST.test(fileOrUrl)) {
      throw new UsageError(`There is no file ${fileOrUrl}. Did you mean https://${fileOrUrl}?`);
    }
    if (!stats) throw new UsageError(`There is no file ${fileOrUrl}.`);
    throw new Error(`${fileOrUrl} cannot be read`, { cause: error });
  }
  return htmlIn(content, fileOrUrl);
}

/**
 * Keeps out what nobody wants to be printed as it is. A service takes any text with a tag, also JSON and PDFs with one.
 * @throws {UsageError}
 */
function htmlIn(content: string, name: string): ConversionOptions {
  if (content.startsWith('%PDF-')) {
    throw new UsageError(
      `${name} is a PDF already, not HTML. Work on it with '${program()} documents'.`,
    );
  }
  if (!isJson(content)) return { html: content };
  throw new UsageError(
    `${name} is JSON, not HTML: put it into a page, such as '<pre>…</pre>'. The JSON of a request goes to the API, as in 'POST /api/v1/pdf/'.`,
  );
}

function isJson(content: string): boolean {
  if (!/^\s*[[{]/.test(content)) return false;
  try {
    JSON.parse(content.trim());
    return true;
  } catch {
    return false;
  }
}

/** A host's name and a path, but no name of an HTML file. */
const HOST = /^(?!.*\.html?$)[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}(:\d+)?(\/.*)?$/i;

/**
 * Runs the work until Ctrl-C; a second one ends the process at once.
 * @param work gives `interrupt.left` the words for what goes on without the command
 * @throws {Interrupted}
 */
export async function untilInterrupted(
  { output }: CommandContext,
  work: (interrupt: Interrupt) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const interrupt: Interrupt = { signal: controller.signal, left: 'nothing was converted.' };
  const abort = (): void => {
    output.waiting('stopping; a second Ctrl-C stops at once');
    controller.abort();
  };
  process.once('SIGINT', abort);
  try {
    await work(interrupt);
  } catch (error) {
    throw interrupt.signal.aborted ? new Interrupted(`Interrupted: ${interrupt.left}`) : error;
  } finally {
    process.off('SIGINT', abort);
  }
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

/** Of a URL and a PDF there is nothing to take. */
export const NOTHING_BESIDE: FilesBeside = { files: {}, lacking: [], reasonFor: () => '' };

/** Takes what lies beside an HTML file. */
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
  return NOTHING_BESIDE;
}

/** Writes what was made where it is to be, and says so. */
export async function finish(
  { record, notLoaded, others, open }: Converted,
  target: PdfTarget,
  strict: boolean,
  { output }: CommandContext,
): Promise<void> {
  if (record.status === 'failed') {
    output.json(record);
    throw new Error(`Conversion ${record.id} failed: ${record.error_message ?? 'no reason given'}`);
  }
  const warnings = [...notLoaded, ...others];
  const told = warnings.length === 0 ? record : { ...record, warnings };
  if (strict && notLoaded.length > 0) {
    output.json(told);
    throw new Error(notWhole(notLoaded));
  }
  const facts = await target.write(open);
  if (notLoaded.length > 0) output.note(inOneLine(notLoaded));
  for (const warning of others) output.note(warning);
  output.json(told);
  target.tell(record.id, facts);
}

/** A template and its data, in the place of files and addresses. @throws {UsageError} */
async function templateSource(invocation: Invocation): Promise<ConversionOptions | undefined> {
  const template = textOption(invocation, 'template');
  const isNamed = invocation.positionals.length > 0;
  if (template === undefined) {
    if (textOption(invocation, 'data') !== undefined) {
      throw new UsageError('--data goes with --template: name the template.');
    }
    if (isNamed) return undefined;
    throw new UsageError('<file-or-url> is missing: name an HTML file, an address, or --template.');
  }
  if (isNamed) throw new UsageError('--template takes the place of a file or address: give one.');
  const { objectIn } = await import('./templates.ts');
  return { template, data: (await objectIn(invocation, 'data')) ?? {} };
}

export const convert: Run = async (invocation, context) => {
  const given = invocation.positionals;
  const [fileOrUrl = ''] = given;
  const path = requiredOption(invocation, 'output');
  const template = await templateSource(invocation);
  const isFromInput = given.includes('-') || textOption(invocation, 'data') === '-';
  if (invocation.values['api-key-stdin'] === true && isFromInput) {
    throw new UsageError('The document and the key cannot both come from standard input.');
  }
  const { convertMany, severalPages } = await import('./convert-many.ts');
  const pages = template === undefined ? await severalPages(given) : undefined;
  const remote = await findServiceUnlessAccount(invocation, context);
  const base = textOption(invocation, 'base');
  const strict = invocation.values['strict'] === true;
  const test = invocation.values['test'] === true;
  const email = textOption(invocation, 'account');
  const prepare = async (page: string) => {
    const source = template ?? (await sourceOf(page));
    const beside = await besideOf(source, page, base);
    // Nothing is spent on what is known to lack something.
    if (strict && beside.lacking.length > 0) throw new Error(notWhole(beside.lacking));
    const { files } = beside;
    const document: ConversionOptions =
      source.html === undefined || Object.keys(files).length === 0 ? source : { ...source, files };
    return { options: { ...document, ...conversionOptions(invocation) }, beside };
  };
  const { format = 'pdf' } = conversionOptions(invocation);
  type By = (job: Job) => Promise<Converted>;
  const convertSeveral = async (several: readonly string[]) => (by: By, interrupt: Interrupt) =>
    convertMany(several, path, { prepare, convert: by, test, strict, format }, context, interrupt);
  const convertOne = async () => {
    const target = await pdfTarget(path, context);
    const { options, beside } = await prepare(fileOrUrl);
    const create: Job['create'] = (client, call) => client.create(options, { ...call, test });
    return async (by: By, interrupt: Interrupt) =>
      finish(await by({ create, beside, context, interrupt }), target, strict, context);
  };
  const convertAll = await (pages === undefined ? convertOne() : convertSeveral(pages));
  await untilInterrupted(context, async (interrupt) => {
    if (remote) return convertAll((job) => convertRemotely(remote, job), interrupt);
    return context.open.withOperator(
      async (api, isTemporary) => {
        if (isTemporary) {
          context.output.note(
            'There is no store in this directory: the conversion uses a temporary one, and no record is kept.',
          );
        }
        await convertAll((job) => convertHere(api, email, isTemporary, job), interrupt);
      },
      { renders: true, orTemporary: email === undefined, hurry: interrupt.signal },
    );
  });
};
