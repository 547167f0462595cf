/** The conversions of an account at a service: listed, read, downloaded, shown. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { sizeText } from '../domain/event-summary.ts';
import {
  choiceOf,
  type Command,
  type CommandContext,
  type Invocation,
  textOption,
  UsageError,
} from './command.ts';
import { AS_OF, pastOf } from './as-of.ts';
import { type PdfTarget, pdfTarget, writeOutputFile } from './pdf-target.ts';
import {
  type Conversion,
  dateOf,
  LIMIT,
  limitOf,
  SERVICE_OPTIONS,
  type Service,
  serviceOf,
  take,
} from './service.ts';

const STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;
const ID = { id: "the conversion's id, as 'conversions list' shows it" };

/** @throws {UsageError} it has not the shape of an id, which names a file */
function idOf({ positionals: [id = ''] }: Invocation): string {
  if (/^conv_\w+$/.test(id)) return id;
  throw new UsageError("<id> is that of a conversion, such as 'conversions list' shows.");
}

export const conversionsList: Command = {
  name: 'conversions list',
  usage: '',
  summary: 'List the conversions of your account, newest first.',
  examples: [
    'conversions list',
    'conversions list --status failed --limit 5',
    'conversions list --as-of 2026-11-21T08:15:30Z',
  ],
  positionals: {},
  options: {
    status: { value: 'status', help: STATUSES.join(', '), choices: STATUSES },
    limit: LIMIT,
    'as-of': AS_OF,
    ...SERVICE_OPTIONS,
  },
  run: async (invocation, context) => {
    const limit = limitOf(invocation);
    const asked = textOption(invocation, 'status');
    const status = asked === undefined ? undefined : choiceOf(asked, STATUSES);
    if (asked !== undefined && status === undefined) {
      throw new UsageError(`--status is one of ${STATUSES.join(', ')}.`);
    }
    const { client } = await serviceOf(invocation, context);
    const filter = { ...(status && { status }), ...pastOf(invocation) };
    const found = await take(limit, (query) => client.conversions({ ...query, ...filter }));
    context.output.json(found);
    context.output.table(
      ['ID', 'STATUS', 'CREATED', 'PAGES', 'SIZE', 'NAME', 'REASON'],
      found.map(({ id, status: state, created_at, pages, bytes, filename, error_message }) => [
        id,
        state,
        dateOf(created_at),
        pages,
        bytes === undefined ? undefined : sizeText(bytes),
        filename,
        error_message,
      ]),
      'There is no such conversion.',
    );
  },
};

export const conversionsGet: Command = {
  name: 'conversions get',
  usage: '<id>',
  summary: 'Show one conversion: status, times, link to the PDF or reason of failure.',
  examples: ['conversions get conv_01jd3v3p8z6s2q4w9x7y5t1r0k'],
  positionals: ID,
  options: { 'as-of': AS_OF, ...SERVICE_OPTIONS },
  run: async (invocation, context) => {
    const id = idOf(invocation);
    const { client } = await serviceOf(invocation, context);
    const record = await client.get(id, pastOf(invocation));
    context.output.json(record);
    context.output.table(
      [],
      Object.entries(record).map(([name, value]) => [
        name,
        name.endsWith('_at') ? dateOf(value) : value,
      ]),
    );
  },
};

/**
 * Waits for a conversion that has not ended.
 * @throws {Error} it has failed
 */
async function completed(
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

export const conversionsDownload: Command = {
  name: 'conversions download',
  usage: '<id>',
  summary: 'Download the PDF of a conversion, as soon as it has completed.',
  examples: [
    'conversions download conv_01jd3v3p8z6s2q4w9x7y5t1r0k -o invoice.pdf',
    'conversions download conv_01jd3v3p8z6s2q4w9x7y5t1r0k -o - | lp',
  ],
  positionals: ID,
  options: {
    output: {
      value: 'file',
      short: 'o',
      help: 'the PDF to write, or - for standard output (default <id>.pdf)',
    },
    ...SERVICE_OPTIONS,
  },
  run: async (invocation, context) => {
    const id = idOf(invocation);
    const service = await serviceOf(invocation, context);
    const target: PdfTarget = await pdfTarget(
      textOption(invocation, 'output') ?? `${id}.pdf`,
      context,
    );
    const record = await completed(service, id, context);
    const facts = await target.write(async () =>
      Readable.fromWeb(await service.client.download(record)),
    );
    context.output.json(record);
    target.tell(id, facts);
  },
};

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

export const conversionsOpen: Command = {
  name: 'conversions open',
  usage: '<id>',
  summary: "Show the PDF of a conversion with the system's viewer.",
  examples: ['conversions open conv_01jd3v3p8z6s2q4w9x7y5t1r0k'],
  positionals: ID,
  options: SERVICE_OPTIONS,
  run: async (invocation, context) => {
    const id = idOf(invocation);
    const service = await serviceOf(invocation, context);
    const record = await completed(service, id, context);
    // The viewer may read the file after the command has ended, so the file stays.
    const path = join(await mkdtemp(join(tmpdir(), 'pressledger-')), `${id}.pdf`);
    const open = async () => Readable.fromWeb(await service.client.download(record));
    await writeOutputFile(open, path, 0o600);
    await show(path);
    context.output.json({ ...record, path });
    context.output.line(`${id} is shown from ${path}.`);
  },
};
