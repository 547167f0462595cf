/** Work on finished PDFs by a service: the flags are the steps, in a fixed order. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { atMost } from '../async/at-most.ts';
import { program } from '../config/copyable-command.ts';
import { CONVERSION_ID } from '../domain/ids.ts';
import { errorMessage } from '../errors/error-message.ts';
import {
  assertFile,
  type CommandContext,
  type Invocation,
  listOption,
  type Run,
  requiredOption,
  textOption,
  UsageError,
} from './command.ts';
import { counted } from '../domain/counted.ts';
import { finish, NOTHING_BESIDE, untilInterrupted } from './convert.ts';
import { outputFolder } from './convert-many.ts';
import { conversionOptions } from './convert-options.ts';
import { convertRemotely, type Interrupt } from './convert-places.ts';
import { pdfTarget } from './pdf-target.ts';
import {
  type DocumentOptions,
  type DocumentSource,
  type DocumentStep,
  type Service,
  serviceOf,
} from './service.ts';

/** Parts that are written at the same time. */
const AT_A_TIME = 4;
const ID = new RegExp(`^${CONVERSION_ID}$`);

interface Work {
  readonly sources: readonly DocumentSource[];
  readonly steps: readonly DocumentStep[];
  readonly options: DocumentOptions & { readonly test?: boolean };
}

/** @throws {UsageError} there are neither one password nor as many as sources */
function passwordsOf(invocation: Invocation): (n: number) => { password?: string } {
  const given = listOption(invocation, 'password');
  const count = invocation.positionals.length;
  if (given.length > 1 && given.length !== count) {
    throw new UsageError(
      `${counted(given.length, 'password')} for ${counted(count, 'source')}: give one for all, or one for each.`,
    );
  }
  return (n) => {
    const password = given[n] ?? given[0];
    return password === undefined ? {} : { password };
  };
}

async function contentOf(path: string): Promise<Buffer> {
  if (path === '-') return await buffer(process.stdin);
  await assertFile(path);
  return await readFile(path).catch((cause: unknown) => {
    throw new Error(`${path} cannot be read`, { cause });
  });
}

/**
 * Reads the files before anything is asked for.
 * @throws {UsageError} there is no such file
 */
async function sourcesOf(invocation: Invocation): Promise<readonly DocumentSource[]> {
  const { positionals, values } = invocation;
  const fromInput = positionals.filter((each) => each === '-').length;
  if (fromInput > 1 || (fromInput === 1 && values['api-key-stdin'] === true)) {
    throw new UsageError('Standard input is one PDF, or the key: give the others as files.');
  }
  const passwordOf = passwordsOf(invocation);
  const sources: DocumentSource[] = [];
  for (const [n, each] of positionals.entries()) {
    if (ID.test(each)) {
      sources.push({ conversion: each, ...passwordOf(n) });
      continue;
    }
    const content = await contentOf(each);
    if (content.length === 0) throw new UsageError(`${each} is empty: give a PDF.`);
    sources.push({ file: content.toString('base64'), ...passwordOf(n) });
  }
  return sources;
}

/** @throws {UsageError} a flag says how to do a step that no flag asks for */
function stepsOf(invocation: Invocation): Omit<Work, 'sources'> {
  // The name of the output asks for no other format here.
  const { pdf = {}, metadata, format: _, ...options } = conversionOptions(invocation);
  const { pages, rotate, stamp, attachments, encrypt, optimize, sign } = pdf;
  const turned = textOption(invocation, 'rotate-pages');
  if (turned !== undefined && rotate === undefined) {
    throw new UsageError('--rotate-pages is for --rotate: say by how many degrees.');
  }
  const steps: DocumentStep[] = [];
  if (pages !== undefined) steps.push({ type: 'pages', pages });
  if (rotate !== undefined) {
    steps.push({ type: 'rotate', rotate, ...(turned !== undefined && { pages: turned }) });
  }
  if (stamp !== undefined) steps.push({ type: 'stamp', ...stamp });
  if (attachments !== undefined) steps.push({ type: 'attach', attachments });
  if (metadata !== undefined) steps.push({ type: 'metadata', ...metadata });
  if (encrypt !== undefined) steps.push({ type: 'encrypt', ...encrypt });
  if (optimize === true) steps.push({ type: 'optimize' });
  const test = invocation.values['test'] === true;
  const asked = { ...options, ...(sign !== undefined && { pdf: { sign } }) };
  return { steps, options: { ...asked, ...(test && { test }) } };
}

/** What has become of a part, as `--json` prints it. */
interface Outcome {
  readonly id: string;
  readonly pages: string;
  readonly status: 'completed' | 'failed';
  readonly file?: string;
  readonly error_message?: string;
}

/** `report` for `report.pdf` */
function nameOf({ filename }: DocumentOptions, [first = '']: readonly string[]): string {
  const name = filename ?? (first === '-' ? 'part' : basename(first));
  return basename(name, extname(name)) || 'part';
}

/**
 * Has the parts made as one batch, and writes each as soon as it is there.
 * @throws {Error} one line: so many failed
 */
async function split(
  { client, server }: Service,
  { sources, steps, options }: Work,
  parts: readonly string[],
  fileOf: (n: number) => string,
  context: CommandContext,
  interrupt: Interrupt,
): Promise<void> {
  const { output } = context;
  const { signal } = interrupt;
  interrupt.left = `it is not known whether ${server} has accepted the work. If so, \`${program()} batches list --server ${server}\` shows it.`;
  const call = { idempotencyKey: randomUUID(), signal };
  const batch = await client.documents.split(sources, parts, steps, { ...options, ...call });
  const command = (verb: string, end = '') =>
    `\`${program()} batches ${verb} ${batch.id}${end} --server ${server}\``;
  interrupt.left = `${batch.id} goes on at ${server}. Fetch its PDFs with ${command('zip', ' -o parts.zip')}, or cancel it with ${command('cancel')}.`;
  const outcomes = new Map<string, Outcome>();
  const tell = (): void =>
    output.waiting(`${outcomes.size} of ${counted(parts.length, 'part')} of ${batch.id} done`);
  const one = async (id: string, n: number): Promise<Outcome> => {
    const record = await client.wait(id, { signal });
    const pages = parts[n] ?? '';
    if (record.status === 'failed') {
      return { id, pages, status: 'failed', error_message: record.error_message };
    }
    const file = fileOf(n);
    const target = await pdfTarget(file, context);
    await target.write(async () => Readable.fromWeb(await client.download(record, { signal })));
    return { id, pages, status: 'completed', file };
  };
  tell();
  const ids = batch.conversions ?? [];
  await atMost(AT_A_TIME, ids.entries(), async ([n, id]) => {
    signal.throwIfAborted();
    const pages = parts[n] ?? '';
    const outcome = await one(id, n).catch((error: unknown): Outcome => {
      signal.throwIfAborted();
      return { id, pages, status: 'failed', error_message: errorMessage(error) };
    });
    outcomes.set(id, outcome);
    if (outcome.status === 'failed') output.note(`${id}: ${outcome.error_message}`);
    tell();
  });
  const conversions = ids.flatMap((id) => outcomes.get(id) ?? []);
  const failed = conversions.filter(({ status }) => status === 'failed').length;
  const done = conversions.length - failed;
  output.json({ batch: batch.id, total: parts.length, done, failed, conversions });
  for (const { id, file } of conversions) {
    if (file !== undefined) output.line(`${id} is in ${file}.`);
  }
  if (failed > 0) throw new Error(`${failed} of ${counted(parts.length, 'part')} failed.`);
}

export const documents: Run = async (invocation, context) => {
  const path = requiredOption(invocation, 'output');
  const parts = listOption(invocation, 'part');
  const asked = stepsOf(invocation);
  const service = await serviceOf(invocation, context);
  const work: Work = { ...asked, sources: await sourcesOf(invocation) };
  if (parts.length > 0) {
    await outputFolder(path);
    const name = nameOf(work.options, invocation.positionals);
    const fileOf = (n: number) => join(path, `${name} ${n + 1}.pdf`);
    await untilInterrupted(context, (interrupt) =>
      split(service, work, parts, fileOf, context, interrupt),
    );
    return;
  }
  const target = await pdfTarget(path, context);
  const { sources, steps, options } = work;
  await untilInterrupted(context, async (interrupt) => {
    const made = await convertRemotely(service, {
      create: (client, call) => client.documents.create(sources, steps, { ...options, ...call }),
      beside: NOTHING_BESIDE,
      context,
      interrupt,
    });
    await finish(made, target, false, context);
  });
};
