/** `convert` of several pages: each by a request of its own, several at a time, into a folder. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { atMost } from '../async/at-most.ts';
import { errorMessage } from '../errors/error-message.ts';
import { assertFile, type CommandContext, UsageError } from './command.ts';
import { counted } from '../domain/counted.ts';
import type { FilesBeside } from './convert-files.ts';
import type { Converted, Interrupt, Job } from './convert-places.ts';
import { pdfTarget } from './pdf-target.ts';
import { type ConversionOptions, whenFree } from './service.ts';

/** Pages under way: a service has more slots seldom, and answers 429 where these are too many. */
const AT_A_TIME = 4;
const PAGE = /\.html?$/i;

/** A page that is ready to be sent. */
export interface PreparedPage {
  readonly options: ConversionOptions;
  readonly beside: FilesBeside;
}

export interface Places {
  readonly prepare: (page: string) => Promise<PreparedPage>;
  readonly convert: (job: Job) => Promise<Converted>;
  readonly test: boolean;
  readonly strict: boolean;
  /** The ending of the files' names. */
  readonly format: string;
}

/** What has become of a page, as `--json` prints it. */
interface Outcome {
  readonly page: string;
  readonly id?: string;
  readonly status: 'completed' | 'failed';
  readonly file?: string;
  readonly warnings?: readonly string[];
  readonly error_message?: string;
}

/**
 * The pages that arguments name: a folder stands for its HTML files.
 * @returns undefined where there is one, which is not a folder
 * @throws {UsageError}
 */
export async function severalPages(
  given: readonly string[],
): Promise<readonly string[] | undefined> {
  const pages: string[] = [];
  let hasFolder = false;
  for (const each of given) {
    const stats = await stat(each).catch(() => undefined);
    if (stats?.isDirectory() !== true) {
      pages.push(each);
      continue;
    }
    hasFolder = true;
    const found = (await readdir(each)).filter((name) => PAGE.test(name)).toSorted();
    if (found.length === 0) throw new UsageError(`There is no .html file in the folder ${each}.`);
    pages.push(...found.map((name) => join(each, name)));
  }
  if (pages.length === 1 && !hasFolder) return undefined;
  if (given.includes('-')) throw new UsageError('Standard input is one page: convert it alone.');
  for (const page of pages.filter((each) => !/^https?:/i.test(each))) await assertFile(page);
  return [...new Set(pages)];
}

/** Names the PDF of each page, none as another, also where case does not count. */
function targetsOf(
  pages: readonly string[],
  folder: string,
  end: string,
): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  return new Map(
    pages.map((page) => {
      const url = /^https?:\/\//i.test(page) ? URL.parse(page) : null;
      const place = url ? `${url.host}${url.pathname}`.replaceAll(/[^\w.-]+/g, '-') : page;
      const name = (url ? place.replace(/-+$/, '') : basename(page, extname(page))) || 'page';
      for (let n = 1; ; n += 1) {
        const file = n === 1 ? `${name}.${end}` : `${name} (${n}).${end}`;
        if (taken.has(file.toLowerCase())) continue;
        taken.add(file.toLowerCase());
        return [page, join(folder, file)] as const;
      }
    }),
  );
}

/**
 * Makes the folder of several PDFs.
 * @throws {UsageError}
 */
export async function outputFolder(folder: string): Promise<void> {
  if (folder === '-') throw new UsageError('Several PDFs need a folder: name it with -o.');
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw new UsageError(`-o names the folder of several PDFs: ${errorMessage(error)}`);
  });
}

/** What a service does not take in a name, and a name that is too long for it. */
const NOT_IN_NAMES = /[\p{Cc}\u2028\u2029/\\]/gu;
const MAX_NAME = 200;

/** Names a page of a file as its PDF, so that lists show which it is before it is printed, too. */
function nameOf(file: string): Pick<ConversionOptions, 'filename'> {
  const filename = basename(file).replaceAll(NOT_IN_NAMES, ' ').trim();
  return filename.length > MAX_NAME ? {} : { filename };
}

/** The same as long as the page, its files and its options are the same: a second run costs nothing twice. */
const keyOf = (page: string, options: object): string =>
  createHash('sha256')
    .update(`${basename(page)}\n${JSON.stringify(options)}`)
    .digest('hex');

/**
 * Converts the pages, and tells what has become of each. One that fails keeps no other from being converted.
 * @throws {Error} one line: so many failed
 */
export async function convertMany(
  pages: readonly string[],
  folder: string,
  { prepare, convert, test, strict, format }: Places,
  context: CommandContext,
  interrupt: Interrupt,
): Promise<void> {
  const { output } = context;
  await outputFolder(folder);
  const quiet = { ...context, output: { ...output, waiting: () => {} } };
  const targets = targetsOf(pages, folder, format);
  const outcomes = new Map<string, Outcome>();
  /** The pages that were sent, each with what Ctrl-C leaves of it. */
  const asked = new Map<string, Interrupt>();
  const one = async (page: string): Promise<Outcome> => {
    const { options, beside } = await prepare(page);
    const idempotencyKey = keyOf(page, test ? { ...options, test } : options);
    const file = targets.get(page) ?? '';
    const named = options.url === undefined ? { ...nameOf(file), ...options } : options;
    const own: Interrupt = { signal: interrupt.signal, left: '' };
    asked.set(page, own);
    const { record, notLoaded, others, open } = await whenFree(
      () =>
        convert({
          create: (client, call) => client.create(named, { ...call, test }),
          beside,
          context: quiet,
          interrupt: own,
          idempotencyKey,
        }),
      { statuses: [429, 503], signal: interrupt.signal },
    );
    const { id } = record;
    if (record.status === 'failed') {
      return { page, id, status: 'failed', error_message: record.error_message };
    }
    const warnings = [...notLoaded, ...others];
    const told = warnings.length === 0 ? {} : { warnings };
    if (strict && notLoaded.length > 0) {
      const lacks = `${counted(notLoaded.length, 'resource')} could not be loaded`;
      return { page, id, status: 'failed', error_message: lacks, ...told };
    }
    await (await pdfTarget(file, quiet)).write(open);
    return { page, id, status: 'completed', file, ...told };
  };
  const count = () => {
    const failed = [...outcomes.values()].filter(({ status }) => status === 'failed').length;
    return { done: outcomes.size - failed, failed };
  };
  const left = (): string => {
    const open = [...asked].filter(([page]) => !outcomes.has(page)).map(([, own]) => own);
    const accepted = open.flatMap((own) => own.accepted ?? []);
    const others = open.find((own) => own.others !== undefined)?.others?.(accepted) ?? '';
    return `${count().done} of ${counted(pages.length, 'page')} are in ${folder}. ${others}`.trim();
  };
  const tell = (): void => {
    const { done, failed } = count();
    const rest = failed === 0 ? '' : `, ${failed} failed`;
    output.waiting(`${done} of ${counted(pages.length, 'page')} done${rest}`);
  };
  tell();
  const stopped = () => {
    interrupt.left = left();
  };
  interrupt.signal.addEventListener('abort', stopped, { once: true });
  await atMost(AT_A_TIME, pages, async (page) => {
    interrupt.signal.throwIfAborted();
    const outcome = await one(page).catch((error: unknown): Outcome => {
      interrupt.signal.throwIfAborted();
      return { page, status: 'failed', error_message: errorMessage(error) };
    });
    outcomes.set(page, outcome);
    if (outcome.status === 'failed') output.note(`${page}: ${outcome.error_message}`);
    else if (outcome.warnings) output.note(`${page}: ${outcome.warnings.join(', ')}`);
    tell();
  });
  interrupt.signal.removeEventListener('abort', stopped);
  const conversions = pages.flatMap((page) => outcomes.get(page) ?? []);
  const { done, failed } = count();
  output.json({ total: pages.length, done, failed, conversions });
  output.line(`${counted(done, 'PDF')} in ${folder}: ${done} done, ${failed} failed.`);
  if (failed > 0) throw new Error(`${failed} of ${counted(pages.length, 'page')} failed.`);
}
