/** The target of a PDF: a file, or with `-` standard output. */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, chmod, constants, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { sizeText } from '../domain/event-summary.ts';
import { type CommandContext, UsageError } from './command.ts';
import { counted } from '../domain/counted.ts';

export interface PdfFacts {
  readonly bytes: number;
  /** Zero where it cannot be told. */
  readonly pages: number;
}

export interface PdfTarget {
  write(open: () => Promise<Readable>): Promise<PdfFacts>;
  /** Says that a conversion's PDF is there. */
  tell(id: string, facts: PdfFacts): void;
}

/** The root of a page tree, as Chrome writes it, counts all pages; a node below it counts its own. */
const PAGE_TREE = /\/Type\s*\/Pages\s*\/Count\s+(\d+)/g;
/** More than such an object's beginning has. */
const OVERLAP = 64;

/** Passes a PDF on, and counts its bytes and pages on the way. */
class MeasuredPdf {
  bytes = 0;
  pages = 0;

  async *through(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let end = '';
    for await (const chunk of content) {
      this.bytes += chunk.length;
      const text = end + Buffer.from(chunk).toString('latin1');
      for (const [, count] of text.matchAll(PAGE_TREE)) {
        this.pages = Math.max(this.pages, Number(count));
      }
      end = text.slice(-OVERLAP);
      yield chunk;
    }
  }
}

/** `3 pages, 45.2 kB, in 1.8 s`, counted from the start of the command. */
function inWords({ bytes, pages }: PdfFacts): string {
  const seconds = (performance.now() / 1000).toFixed(1);
  return [
    ...(pages === 0 ? [] : [counted(pages, 'page')]),
    sizeText(bytes),
    `in ${seconds} s`,
  ].join(', ');
}

/** Writes to standard output at the pace of its reader. */
export const writeOut = promisify((chunk: Buffer, done: (error?: Error | null) => void): void => {
  process.stdout.write(chunk, done);
});

function standardOutput({ output }: CommandContext): PdfTarget {
  if (output.wantsJson) throw new UsageError('--json and -o - both want standard output.');
  if (process.stdout.isTTY) {
    throw new UsageError(
      'A terminal cannot show a PDF: redirect standard output, or give -o the name of a file.',
    );
  }
  return {
    // Not a pipeline: where reading fails, it would also end what belongs to the whole process.
    write: async (open) => {
      const measured = new MeasuredPdf();
      for await (const chunk of measured.through(await open())) await writeOut(chunk);
      return measured;
    },
    // Standard output has the PDF and nothing else.
    tell: (id, facts) => output.note(`${id} is on standard output: ${inWords(facts)}.`),
  };
}

/**
 * Checks the target before the request is sent, so that no credit is spent on a PDF that cannot be written.
 * @throws {UsageError} there is no standard output for it
 * @throws {Error} one line: why the file cannot be written there
 */
export async function pdfTarget(path: string, context: CommandContext): Promise<PdfTarget> {
  if (path === '-') return standardOutput(context);
  if (path === '')
    throw new UsageError('--output needs the name of a file, or - for standard output.');
  await checkOutputFile(path);
  return {
    write: (open) => writeOutputFile(open, path, context.outputMode),
    tell: (id, facts) => context.output.line(`${id} is in ${path}: ${inWords(facts)}.`),
  };
}

/** @throws {Error} one line: why the file cannot be written there */
export async function checkOutputFile(path: string): Promise<void> {
  try {
    await access(dirname(resolve(path)), constants.W_OK);
  } catch (error) {
    throw new Error(`${path} cannot be written`, { cause: error });
  }
  const there = await stat(path).catch(() => undefined);
  if (there !== undefined && !there.isFile()) {
    throw new Error(`${path} is there and is not a file: choose another name.`);
  }
}

/** The permissions of a file that has, decrypted, what the store keeps encrypted. */
export const OWNER_ONLY = 0o600;

/** Puts the whole file in its place, with these permissions, or leaves what was there as it was. */
export async function writeOutputFile(
  open: () => Promise<Readable>,
  path: string,
  mode: number,
): Promise<PdfFacts> {
  const content = await open();
  const measured = new MeasuredPdf();
  const partial = `${path}.${randomUUID()}.part`;
  try {
    const file = createWriteStream(partial, { flags: 'wx', flush: true });
    await pipeline(content, (chunks: AsyncIterable<Buffer>) => measured.through(chunks), file);
    // A file system without permissions has none to set.
    await chmod(partial, mode).catch(() => {});
    await rename(partial, path);
    return measured;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
