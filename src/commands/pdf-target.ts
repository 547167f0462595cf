/** Where a PDF goes: into a file, or with `-` to standard output. */
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { type CommandContext, UsageError } from './command.ts';
import { checkOutputFile, writeOutputFile } from './output-file.ts';

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
 * Told before anything is asked for, so that no credit goes for a PDF that cannot be kept.
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
