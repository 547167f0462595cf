/**
 * Debian's qpdf, which reads strangers' PDFs: each run is a process of its own, within bounds of memory, processor time and
 * files, without our environment and without a way to more rights.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { access, chmod, constants, mkdtemp, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { type QpdfEnd, type QpdfRun, WorkFailure } from './work-plan.ts';

/** All that one process may map. */
const MAX_MEMORY_BYTES = 512 * 1024 * 1024;
/** All that the runs of one work may write. */
const MAX_WRITTEN_BYTES = 512 * 1024 * 1024;
/** Of what it says. */
const MAX_SAID_CHARACTERS = 4_000;
const VERSION_MS = 10_000;
const RM_RETRIES = 5;
/** Nobody's, where accounts are numbered as systemd does (https://systemd.io/UIDS-GIDS/): it owns no file and no process. */
const NOBODY = 60_999;
/** The first version with jobs as JSON in the form of today. */
const OLDEST_MAJOR = 11;

export interface Qpdf {
  readonly path: string;
  /** Name and version, such as `qpdf/11.3.0`. */
  readonly product: string;
  /** The commands that bound it, with their paths; each becomes the next, with its process id. */
  readonly bounds: readonly string[];
  /** True if it runs as nobody, since the service is root. */
  readonly isOther: boolean;
}

/** The folder and the time of some work. */
export interface WorkPlace {
  /** A directory for a folder of the work's own, which is removed with it. */
  readonly directory: string;
  readonly deadlineMs: number;
  /** Aborted when nobody needs the result. */
  readonly unneeded?: AbortSignal | undefined;
}

const INSTALL = 'install it (Debian, Ubuntu: apt-get install qpdf)';

async function placeOf(program: string): Promise<string | undefined> {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(directory, program);
    if (directory !== '' && (await isExecutable(path))) return path;
  }
  return undefined;
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/**
 * Other systems than Linux have no program that bounds another one's memory.
 * @throws {Error} one line: what is missing, and how to mend it
 */
async function findBounds(): Promise<readonly string[]> {
  if (process.platform !== 'linux') return [];
  const [setpriv, prlimit] = await Promise.all([placeOf('setpriv'), placeOf('prlimit')]);
  if (setpriv === undefined || prlimit === undefined) {
    throw new Error(
      'setpriv and prlimit, which bound qpdf, are not both here: install them (Debian, Ubuntu: apt-get install util-linux)',
    );
  }
  return [setpriv, '--no-new-privs', '--pdeathsig', 'KILL', prlimit, '--core=0'];
}

/** The same as nobody, without a right of root's. */
const asNobody = ([setpriv = '', ...others]: readonly string[]): readonly string[] => [
  setpriv,
  `--reuid=${NOBODY}`,
  `--regid=${NOBODY}`,
  '--clear-groups',
  '--inh-caps=-all',
  '--bounding-set=-all',
  ...others,
];

const answers = (command: readonly string[]): Promise<{ readonly stdout: string }> => {
  const [program = '', ...args] = command;
  return promisify(execFile)(program, [...args, '--version'], { env: {}, timeout: VERSION_MS });
};

/** A container may keep root from becoming somebody else, and others from the program. */
async function bounded(path: string): Promise<Pick<Qpdf, 'bounds' | 'isOther'>> {
  const bounds = await findBounds();
  const other = asNobody(bounds);
  const isRoot = bounds.length > 0 && process.getuid?.() === 0;
  const isOther =
    isRoot &&
    (await answers([...other, path]).then(
      () => true,
      () => false,
    ));
  return { bounds: isOther ? other : bounds, isOther };
}

let found: Promise<Qpdf> | undefined;

/**
 * Finds the program once, and again after it was missing.
 * @throws {Error} one line: what is missing, and how to mend it
 */
export function findQpdf(): Promise<Qpdf> {
  found ??= lookForQpdf().catch((error: unknown) => {
    found = undefined;
    throw error;
  });
  return found;
}

async function lookForQpdf(): Promise<Qpdf> {
  const path = await placeOf('qpdf');
  if (path === undefined) throw new Error(`qpdf is not here: ${INSTALL}`);
  const { stdout } = await answers([path]).catch((cause: unknown) => {
    throw new Error(`qpdf at ${path} does not run: ${INSTALL} again`, { cause });
  });
  const [, version = '', major] = /^qpdf version ((\d+)\.\S+)/.exec(stdout) ?? [];
  if (!(Number(major) >= OLDEST_MAJOR)) {
    throw new Error(
      `qpdf at ${path} is version ${version}, and ${OLDEST_MAJOR} is the oldest that is used: install a newer one`,
    );
  }
  return { path, product: `qpdf/${version}`, ...(await bounded(path)) };
}

/** The runs of one work, one after the other, in a folder of its own. */
export class QpdfRuns {
  readonly folder: string;
  readonly qpdf: Qpdf;
  readonly #seconds: number;
  #child: ChildProcess | undefined;
  #written = 0;

  private constructor(qpdf: Qpdf, folder: string, deadlineMs: number) {
    this.qpdf = qpdf;
    this.folder = folder;
    this.#seconds = Math.max(1, Math.ceil(deadlineMs / 1000));
  }

  /** @throws {WorkFailure} where there is no qpdf */
  static async open({ directory, deadlineMs }: WorkPlace): Promise<QpdfRuns> {
    const qpdf = await findQpdf().catch((cause: Error) => {
      const message = `This renderer cannot work on PDFs: ${cause.message}. Ask the operator of the service to do so.`;
      throw new WorkFailure('renderer_failed', message, { cause });
    });
    const folder = await mkdtemp(join(directory, 'pdf-'));
    // It may open the files that it is told of.
    if (qpdf.isOther) await chmod(folder, 0o711);
    return new QpdfRuns(qpdf, folder, deadlineMs);
  }

  /**
   * Runs the job of a file in the folder (https://qpdf.readthedocs.io/en/stable/qpdf-job.html).
   * @throws {WorkFailure} if it writes too much
   * @throws {Error} if it does not start, or its output cannot be stored
   */
  async run({ jobFile, outputFile }: QpdfRun): Promise<QpdfEnd> {
    const { path, bounds } = this.qpdf;
    const limits = [
      `--as=${MAX_MEMORY_BYTES}`,
      `--fsize=${MAX_WRITTEN_BYTES}`,
      `--cpu=${this.#seconds}`,
    ];
    const [command, ...args] = bounds.length > 0 ? [...bounds, ...limits, path] : [path];
    const child = spawn(command, [...args, `--job-json-file=${jobFile}`], {
      cwd: this.folder,
      env: {},
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
    // It has no pipes if it did not start: this rejects with the reason.
    if (child.pid === undefined) await ended;
    this.#child = child;
    child.once('close', () => (this.#child = undefined));
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, MAX_SAID_CHARACTERS);
    });
    // Read from now on: Node drops the output of a child that ends before anything reads it.
    const stored = pipeline(
      child.stdout,
      (output: AsyncIterable<Buffer>) => this.#bounded(output),
      createWriteStream(join(this.folder, outputFile)),
    );
    const [[status, signal]] = await Promise.all([ended, stored]);
    return { status, signal, said };
  }

  async *#bounded(output: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const chunk of output) {
      this.#written += chunk.length;
      if (this.#written > MAX_WRITTEN_BYTES) {
        throw new WorkFailure('too_large', 'The work makes more than is made of PDFs here.');
      }
      yield chunk;
    }
  }

  /** Ends a run that is under way, and removes the folder. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid !== undefined) {
      const ended = once(child, 'close');
      await this.#endGroup(child.pid);
      await ended;
    }
    // A thread that was ended may be writing its last file.
    await rm(this.folder, { recursive: true, force: true, maxRetries: RM_RETRIES });
  }

  /** A group that is gone already is fine. */
  async #endGroup(pid: number): Promise<void> {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A root without CAP_KILL may not end what is nobody's. Nobody may.
      if (code === 'EPERM') await this.#endAsItself(pid);
      else if (code !== 'ESRCH') throw error;
    }
  }

  async #endAsItself(pid: number): Promise<void> {
    const [command = '', ...args] = this.qpdf.bounds;
    const kill = [...args, '/bin/sh', '-c', 'kill -s KILL -- "-$0"', String(pid)];
    await once(spawn(command, kill, { env: {}, stdio: 'ignore' }), 'close');
  }
}
