/** The target of a PDF: a file, or with `-` standard output. */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, chmod, constants, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { type CommandContext, UsageError } from './command.ts';

export interface PdfTarget {
  write(open: () => Promise<Readable>): Promise<void>;
  /** Says that a conversion's PDF is there. */
  tell(id: string): void;
}

const writeOut = promisify((chunk: Buffer, done: (error?: Error | null) => void): void => {
  process.stdout.write(chunk, done);
});

function standardOutput({ output }: CommandContext): PdfTarget {
  if (output.wantsJson) throw new UsageError('--json and -o - both want standard output.');
  if (process.stdout.isTTY) {
    throw new UsageError(
      'A PDF is nothing for a terminal: redirect standard output, or give -o the name of a file.',
    );
  }
  return {
    // Not a pipeline: where reading fails, it would also end what belongs to the whole process.
    write: async (open) => {
      for await (const chunk of await open()) await writeOut(chunk as Buffer);
    },
    // Standard output has the PDF and nothing else.
    tell: (id) => output.progress(`${id} is on standard output.`),
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
    tell: (id) => context.output.line(`${id} is in ${path}.`),
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

/** Puts the whole file in its place, with these permissions, or leaves what was there as it was. */
export async function writeOutputFile(
  open: () => Promise<Readable>,
  path: string,
  mode: number,
): Promise<void> {
  const content = await open();
  const partial = `${path}.${randomUUID()}.part`;
  try {
    await pipeline(content, createWriteStream(partial, { flags: 'wx', flush: true }));
    // A file system without permissions has none to set.
    await chmod(partial, mode).catch(() => {});
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
