/** `account export`: everything kept about an account, as ZIP archives that are written little by little. */
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Zip, ZipDeflate, ZipPassThrough } from 'fflate';
import { type ExportedFile, exportAccount } from '../accounts/account-export.ts';
import { operatorContext } from '../actors/command-context.ts';
import { recordLook } from '../accounts/accounts.ts';
import { accountByEmail } from './account.ts';
import { type Run, requiredOption } from './command.ts';
import { counted } from '../domain/counted.ts';
import { checkOutputFile, OWNER_ONLY, writeOutputFile } from './pdf-target.ts';

/** A plain ZIP archive holds 65,535 files and 4 GiB. No file of an account has more than 1 GiB. */
const LIMITS = { files: 60_000, bytes: 2 ** 31 };

/** The files that are still to be written. */
export class Remaining {
  taken = 0;
  readonly #files: AsyncIterator<ExportedFile, undefined>;
  #next: ExportedFile | undefined;

  constructor(files: AsyncIterator<ExportedFile, undefined>) {
    this.#files = files;
  }

  async next(): Promise<ExportedFile | undefined> {
    this.#next ??= (await this.#files.next()).value;
    return this.#next;
  }

  take(): void {
    this.#next = undefined;
    this.taken += 1;
  }
}

/** One archive of as many of the files as it holds. */
export async function* archive(remaining: Remaining, limits = LIMITS): AsyncGenerator<Uint8Array> {
  let chunks: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    chunks.push(chunk);
  });
  let bytes = 0;
  function* written(): Generator<Uint8Array> {
    for (const chunk of chunks) {
      bytes += chunk.length;
      yield chunk;
    }
    chunks = [];
  }
  for (let files = 0; files < limits.files && bytes < limits.bytes; files += 1) {
    const next = await remaining.next();
    if (next === undefined) break;
    remaining.take();
    const { name, content } = next;
    // A PDF is compressed already.
    const file = name.endsWith('.pdf') ? new ZipPassThrough(name) : new ZipDeflate(name);
    zip.add(file);
    for await (const chunk of content) {
      file.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      yield* written();
    }
    file.push(new Uint8Array(0), true);
    yield* written();
  }
  zip.end();
  yield* written();
}

export const accountExport: Run = async (invocation, { open, output }) => {
  const [email = ''] = invocation.positionals;
  const path = requiredOption(invocation, 'output');
  await checkOutputFile(path);
  await open.withCore(async (core) => {
    const { id } = await accountByEmail(core, email);
    await core.caughtUp();
    await recordLook(core, id, operatorContext(core.clock), 'export');
    const deps = { ...core, streams: core.store };
    const remaining = new Remaining(exportAccount(deps, id, core.clock.now()));
    const files: string[] = [];
    let bytes = 0;
    while ((await remaining.next()) !== undefined) {
      const suffix = files.length === 0 ? '' : `-${files.length + 1}`;
      const file = path.replace(/(\.zip)?$/i, (extension) => suffix + extension);
      const content = async (): Promise<Readable> => Readable.from(archive(remaining));
      await writeOutputFile(content, file, OWNER_ONLY);
      files.push(file);
      bytes += (await stat(file)).size;
    }
    output.json({ id, email, files, entries: remaining.taken, bytes });
    output.line(`${counted(remaining.taken, 'file')} of ${email} in ${files.join(', ')}.`);
  });
};
