/** The conversions of an account at a service: listed, read, downloaded, shown. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { program } from '../config/copyable-command.ts';
import { comparisonText, sizeText } from '../domain/event-summary.ts';
import { pastOf } from './as-of.ts';
import {
  type CommandContext,
  choiceOf,
  type Invocation,
  listOption,
  type Run,
  requiredOption,
  textOption,
  UsageError,
} from './command.ts';
import { counted } from '../domain/counted.ts';
import { ORDERS, SOURCES, STATUSES } from './options.ts';
import { checkOutputFile, type PdfTarget, pdfTarget, writeOutputFile } from './pdf-target.ts';
import {
  type Conversion,
  dateOf,
  isPressledgerError,
  limitOf,
  recordRows,
  type Service,
  serviceOf,
  take,
  whenFree,
} from './service.ts';

/** @throws {UsageError} one has not the shape of an id, which names a file */
function idsOf({ positionals }: Pick<Invocation, 'positionals'>): readonly string[] {
  if (positionals.every((id) => /^conv_\w+$/.test(id))) return [...new Set(positionals)];
  throw new UsageError("<id> is that of a conversion, such as 'conversions list' shows.");
}

/** @throws {UsageError} */
export const idOf = (invocation: Pick<Invocation, 'positionals'>): string =>
  idsOf(invocation)[0] ?? '';

/** @throws {UsageError} */
function oneOf<T extends string>(
  invocation: Invocation,
  name: string,
  choices: readonly T[],
): T | undefined {
  const asked = textOption(invocation, name);
  const choice = asked === undefined ? undefined : choiceOf(asked, choices);
  if (asked === undefined || choice !== undefined) return choice;
  throw new UsageError(`--${name} is one of ${choices.join(', ')}.`);
}

function filterOf(invocation: Invocation) {
  const text = (name: string) => textOption(invocation, name);
  return {
    q: text('q'),
    reference: text('reference'),
    tag: listOption(invocation, 'tag'),
    key: text('key'),
    batch: text('batch'),
    template: text('template'),
    status: oneOf(invocation, 'status', STATUSES),
    source: oneOf(invocation, 'source', SOURCES),
    order: oneOf(invocation, 'order', ORDERS),
    from: text('from'),
    to: text('to'),
    ...(invocation.values['warnings'] === true && { warnings: true as const }),
    ...pastOf(invocation),
  };
}

export const conversionsList: Run = async (invocation, context) => {
  const limit = limitOf(invocation);
  const filter = filterOf(invocation);
  const { client } = await serviceOf(invocation, context);
  const found = await take(limit, (query) => client.conversions({ ...query, ...filter }));
  context.output.json(found);
  context.output.table(
    ['ID', 'STATUS', 'CREATED', 'PAGES', 'SIZE', 'NAME', 'REASON'],
    found.map(({ id, status: state, created_at, pages, bytes, name, error_message }) => [
      id,
      state,
      dateOf(created_at),
      pages,
      bytes === undefined ? undefined : sizeText(bytes),
      name === id ? undefined : name,
      error_message,
    ]),
    'No conversion matches.',
  );
};

export const conversionsGet: Run = async (invocation, context) => {
  const id = idOf(invocation);
  const { client } = await serviceOf(invocation, context);
  const record = await client.get(id, pastOf(invocation));
  context.output.json(record);
  context.output.table([], recordRows(record));
};

/** Answers that are the same for each further id. */
const ENDS_ALL: ReadonlySet<number> = new Set([401, 403]);
/** A restart of the service, or of a proxy before it, takes less. */
const LONGEST_LOST_MS = 60_000;

export const conversionsDelete: Run = async (invocation, context) => {
  const ids = idsOf(invocation);
  const { client } = await serviceOf(invocation, context);
  const { output } = context;
  const takeBack = async (id: string) => {
    await client.delete(id);
    const { status, failure_code: code } = await client.get(id);
    return { id, status, isCancelled: code === 'cancelled' };
  };
  const [only, ...others] = ids;
  if (only !== undefined && others.length === 0) {
    const { id, status, isCancelled } = await takeBack(only);
    output.json({ id, status });
    output.line(isCancelled ? `${id} is cancelled.` : `The documents of ${id} are deleted.`);
    return;
  }
  const conversions: { id: string; status?: string; error_message?: string }[] = [];
  let cancelled = 0;
  // One by one: each request counts in the rate limit, and a refusal says when it is over. To repeat one is safe.
  for (const id of ids) {
    try {
      const { status, isCancelled } = await whenFree(() => takeBack(id), {
        statuses: [429, 503],
        // The first one tells whether there is a service at all.
        lostMs: conversions.length === 0 ? 0 : LONGEST_LOST_MS,
      });
      conversions.push({ id, status });
      if (isCancelled) cancelled += 1;
    } catch (error) {
      if (!isPressledgerError(error) || ENDS_ALL.has(error.status)) {
        output.note(
          `${conversions.length} of ${counted(ids.length, 'conversion')} were dealt with before. Repeat the command for the rest.`,
        );
        throw error;
      }
      conversions.push({ id, error_message: error.message });
      output.note(`${id}: ${error.message}`);
    }
    output.progress(`${conversions.length} of ${ids.length}`);
  }
  const refused = conversions.filter(({ status }) => status === undefined).length;
  const deleted = ids.length - cancelled - refused;
  output.json({ total: ids.length, cancelled, deleted, refused, conversions });
  output.line(
    `${counted(ids.length, 'conversion')}: ${cancelled} cancelled, ${deleted} deleted, ${refused} refused.`,
  );
  if (refused > 0) throw new Error(`${refused} of ${counted(ids.length, 'conversion')} refused.`);
};

export const conversionsRetry: Run = async (invocation, context) => {
  const id = idOf(invocation);
  const { client } = await serviceOf(invocation, context);
  const made = await client.retry(id, { idempotencyKey: randomUUID() });
  context.output.json(made);
  context.output.line(`${made.id} converts the request of ${id} once more.`);
};

export const conversionsRerender: Run = async (invocation, context) => {
  const id = idOf(invocation);
  const service = await serviceOf(invocation, context);
  const { output } = context;
  const made = await service.client.rerender(id, { idempotencyKey: randomUUID() });
  if (invocation.values['wait'] !== true) {
    output.json(made);
    const told = `\`${program()} conversions get ${made.id}\` says what was found.`;
    output.line(`${made.id} renders the request of ${id} again. ${told}`);
    return;
  }
  const record = await completed(service, made.id, context);
  output.json(record);
  const { equal = false, pages } = record.rerender ?? {};
  const text = comparisonText({ equal, ...(pages && { pages }) });
  output.line(`${made.id} was rendered from the request of ${id}. ${text}`);
  // Dates alone make no PDF another document.
  if (!equal && pages?.length !== 0) throw new Error(`${made.id} is not the same as ${id}.`);
};

/**
 * Waits for a conversion that has not ended.
 * @throws {Error} it has failed
 */
/** The record, once it has completed. @throws {Error} it failed */
export async function completed(
  { client, server }: Service,
  id: string,
  { output }: CommandContext,
): Promise<Conversion> {
  const now = await client.get(id);
  const isOver = now.status === 'completed' || now.status === 'failed';
  if (!isOver) output.waiting(`${id} is ${now.status}; waiting for ${server}`);
  const record = isOver ? now : await client.wait(id);
  if (record.status !== 'failed') return record;
  throw new Error(`Conversion ${id} failed: ${record.error_message}`);
}

/** The ending of the file's name, as its link has it. */
const endingOf = (record: Conversion | undefined): string =>
  /\.([a-z]+)\?/.exec(record?.file_url ?? '')?.[1] ?? 'pdf';

export const conversionsDownload: Run = async (invocation, context) => {
  const id = idOf(invocation);
  const service = await serviceOf(invocation, context);
  const output = textOption(invocation, 'output');
  // A name of ours has the ending of the format, which a conversion that has ended tells.
  const ended = output === undefined ? await completed(service, id, context) : undefined;
  const name = output ?? `${id}.${endingOf(ended)}`;
  const target: PdfTarget = await pdfTarget(name, context);
  const record = ended ?? (await completed(service, id, context));
  const facts = await target.write(async () =>
    Readable.fromWeb(await service.client.download(record)),
  );
  context.output.json(record);
  target.tell(id, facts);
};

export const conversionsZip: Run = async (invocation, context) => {
  const ids = idsOf(invocation);
  const path = requiredOption(invocation, 'output');
  await checkOutputFile(path);
  const { client } = await serviceOf(invocation, context);
  const open = async () => Readable.fromWeb(await client.zip(ids));
  const { bytes } = await writeOutputFile(open, path, context.outputMode);
  context.output.json({ ids, path, bytes });
  context.output.line(`The PDFs that these conversions have are in ${path}.`);
};

/** @param what the picture in words */
const savePicture =
  (kind: 'picture' | 'thumbnail', ending: string, what: string): Run =>
  async (invocation, context) => {
    const id = idOf(invocation);
    const path = textOption(invocation, 'output') ?? `${id}.${ending}`;
    const { client } = await serviceOf(invocation, context);
    await checkOutputFile(path);
    const picture = await client[kind](id);
    const open = () => Promise.resolve(Readable.from(Buffer.from(picture), { objectMode: false }));
    const { bytes } = await writeOutputFile(open, path, context.outputMode);
    context.output.json({ id, path, bytes });
    context.output.line(`The picture of the ${what} of ${id} is in ${path}: ${sizeText(bytes)}.`);
  };

export const conversionsPicture = savePicture('picture', 'jpg', 'page');
export const conversionsThumbnail = savePicture('thumbnail', 'png', 'first page');

/** The program that shows a file, by system. */
const VIEWERS: Partial<Record<NodeJS.Platform, string>> = { linux: 'xdg-open', darwin: 'open' };

/** @throws {Error} there is no viewer, or it does not take the file */
async function show(path: string): Promise<void> {
  const viewer = VIEWERS[process.platform];
  if (viewer === undefined)
    throw new Error(`No viewer is known on this system. The PDF is ${path}`);
  const child = spawn(viewer, [path], { stdio: 'ignore' });
  try {
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`its exit status is ${String(code)}`);
  } catch (error) {
    throw new Error(`${viewer} cannot show the PDF, which is ${path}`, { cause: error });
  }
}

export const conversionsOpen: Run = async (invocation, context) => {
  const id = idOf(invocation);
  const service = await serviceOf(invocation, context);
  const record = await completed(service, id, context);
  // The viewer may read the file after the command has ended, so the file stays.
  const path = join(await mkdtemp(join(tmpdir(), 'pressledger-')), `${id}.${endingOf(record)}`);
  const open = async () => Readable.fromWeb(await service.client.download(record));
  await writeOutputFile(open, path, 0o600);
  await show(path);
  context.output.json({ ...record, path });
  context.output.line(`${id} is shown from ${path}.`);
};
