/** The product as a user starts it: `bin/pressledger start` in a process of its own, or a role of it. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import { PressledgerClient } from '../../client/src/client.ts';
import { eventually } from './deadline.ts';
import { createPlace, LAUNCHER, type Place } from './place.ts';
import { descendants, isAlive, type ProcessRecord, processesOf } from './processes.ts';

const START_MS = 120_000;
const STOP_MS = 45_000;
/** A service that lets its renderings end is still there meanwhile. */
const LEFT_MS = 30_000;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process of the product, started by its launcher in a place of its own. */
export abstract class Launched {
  readonly place: Place;
  readonly #command: readonly [string, ...string[]];
  #child: ChildProcessWithoutNullStreams | undefined;
  #ended: Promise<Ended> = Promise.resolve({ code: null, signal: null });
  #stdout = '';
  #stderr = '';
  readonly #started: ProcessRecord[] = [];

  constructor(place: Place, command: readonly [string, ...string[]]) {
    this.place = place;
    this.#command = command;
  }

  /** Of the running process. */
  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('It is not running.');
    return pid;
  }

  /** Standard output and standard error since the last start. */
  get output(): { readonly stdout: string; readonly stderr: string } {
    return { stdout: this.#stdout, stderr: this.#stderr };
  }

  /** Starts it and waits until it is ready. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#launch(env);
    await this.ready((look) => this.#unlessEnded(look));
    this.#remember();
  }

  /** Starts it where it is expected never to be ready. */
  launch(env: Readonly<Record<string, string>> = {}): void {
    this.#launch(env);
  }

  /** Starts it where it is expected to give up. */
  async startInVain(env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    this.#launch(env);
    return await this.#end(START_MS);
  }

  /** Waits until it ends by itself. */
  async end(): Promise<Ended> {
    this.#remember();
    return await this.#end(STOP_MS);
  }

  /** Its end, where that comes in time; it is not ended. */
  async endWithin(ms: number): Promise<Ended | undefined> {
    this.#remember();
    const late = new AbortController();
    const timer = pause(ms, undefined, { signal: late.signal }).catch(() => undefined);
    const ended = await Promise.race([this.#ended, timer]);
    late.abort();
    if (ended) this.#child = undefined;
    return ended ?? undefined;
  }

  /** SIGTERM, as a user or a supervisor stops it. */
  async stop(): Promise<Ended> {
    this.#remember();
    this.#child?.kill('SIGTERM');
    return await this.#end(STOP_MS);
  }

  /** Types on the terminal that its command is given. */
  type(text: string): void {
    this.#child?.stdin.write(text);
  }

  /** SIGKILL to the process itself alone. */
  async kill(): Promise<Ended> {
    this.#remember();
    this.#child?.kill('SIGKILL');
    return await this.#end(STOP_MS);
  }

  async restart(env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const ended = await this.stop();
    await this.start(env);
    return ended;
  }

  /**
   * Processes and temporary files that are still there a while after the end: there must be none.
   * @param expected the name of one that may be left
   */
  async leftovers(expected?: string): Promise<readonly string[]> {
    const { dataDir, tmpDir } = this.place;
    let left: readonly string[] = [];
    const none = (): true | undefined => {
      const running = [...this.#started.filter(isAlive), ...processesOf(tmpDir)];
      const folders = [tmpDir, join(dataDir, 'tmp')].filter((folder) => existsSync(folder));
      left = [
        ...running.map(({ pid, commandLine }) => `${pid} ${commandLine.slice(0, 200)}`),
        ...folders.flatMap((folder) =>
          readdirSync(folder)
            .filter((name) => name !== expected)
            .map((name) => join(folder, name)),
        ),
      ];
      return left.length === 0 ? true : undefined;
    };
    await eventually('the end of what it started', none, LEFT_MS).catch(() => {});
    return left;
  }

  /** Looks until it is ready, or it has ended. */
  protected abstract ready(
    unlessEnded: <T>(look: () => Promise<T | undefined> | T | undefined) => Promise<T>,
  ): Promise<void>;

  #launch(env: Readonly<Record<string, string>>): void {
    this.#stdout = '';
    this.#stderr = '';
    const [command, ...args] = this.#command;
    const child = spawn(command, args, {
      env: { ...this.place.env, ...env },
      stdio: 'pipe',
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#child = child;
    this.#ended = once(child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
    }));
  }

  #remember(): void {
    const pid = this.#child?.pid;
    if (pid !== undefined) this.#started.push(...descendants(pid));
  }

  async #unlessEnded<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
    const early = this.#ended.then(({ code, signal }) => {
      throw new Error(`It ended with ${code ?? signal}: ${this.#stderr}${this.#stdout}`);
    });
    return await Promise.race([eventually('ready', look, START_MS), early]);
  }

  async #end(withinMs: number): Promise<Ended> {
    const child = this.#child;
    const timer = setTimeout(() => child?.kill('SIGKILL'), withinMs);
    const ended = await this.#ended;
    clearTimeout(timer);
    this.#child = undefined;
    return ended;
  }
}

export interface FirstStart {
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
  /** The command it tells the user to paste. */
  readonly convert: string;
}

async function isReady(origin: string): Promise<true | undefined> {
  const answer = await fetch(`${origin}/readyz`);
  await answer.body?.cancel();
  return answer.status === 200 ? true : undefined;
}

/** A process that serves the API. */
export class Service extends Launched {
  #url = '';
  #firstStart: FirstStart | undefined;

  /** @param command how it is started, in an environment that a test prepares */
  constructor(place: Place, command: readonly [string, ...string[]] = [LAUNCHER, 'start']) {
    super(place, command);
  }

  get url(): string {
    return this.#url;
  }

  /** What the first start printed. */
  get firstStart(): FirstStart {
    if (!this.#firstStart) throw new Error(`No first-start lines in: ${this.output.stdout}`);
    return this.#firstStart;
  }

  client(apiKey = this.firstStart.apiKey): PressledgerClient {
    return new PressledgerClient({ server: this.#url, apiKey });
  }

  protected async ready(
    unlessEnded: <T>(look: () => Promise<T | undefined> | T | undefined) => Promise<T>,
  ): Promise<void> {
    const line = /^Pressledger is ready at (\S+)$/m;
    this.#url = await unlessEnded(() => line.exec(this.output.stdout)?.[1]);
    await unlessEnded(() => isReady(this.#url));
    // The lines come one by one: the last is about the first account, or about any.
    const last = /(-o hello\.pdf|account password EMAIL)\r?\n/;
    await unlessEnded(() => last.exec(this.output.stdout)?.[0]);
    this.#firstStart ??= parseFirstStart(this.output.stdout);
  }
}

/** A process that renders for others. */
export class RendererProcess extends Launched {
  #healthUrl = '';

  constructor(place: Place) {
    super(place, [LAUNCHER, 'renderer']);
  }

  /** The origin of its /healthz and /readyz. */
  get healthUrl(): string {
    return this.#healthUrl;
  }

  protected async ready(
    unlessEnded: <T>(look: () => Promise<T | undefined> | T | undefined) => Promise<T>,
  ): Promise<void> {
    const line = /renderer is ready; its health is at (\S+)\/readyz$/m;
    this.#healthUrl = await unlessEnded(() => line.exec(this.output.stdout)?.[1]);
    await unlessEnded(() => isReady(this.#healthUrl));
  }
}

function parseFirstStart(stdout: string): FirstStart | undefined {
  const line = (pattern: RegExp): string => pattern.exec(stdout)?.[1] ?? '';
  const signIn = /^ {2}Sign-in: {2}(\S+) \/ (\S+)$/m.exec(stdout);
  if (!signIn) return undefined;
  return {
    email: signIn[1] ?? '',
    password: signIn[2] ?? '',
    apiKey: line(/^ {2}API key: {2}(\S+)$/m),
    convert: line(/^ {2}Make a PDF, hello\.pdf:\n {4}(.+)$/m),
  };
}

/** A service in a place of its own, not yet started; ended and removed with the test. */
export function createService(t: Test, env: Readonly<Record<string, string>> = {}): Service {
  const service = new Service(createPlace(t, env));
  t.teardown(() => service.kill());
  return service;
}

export async function startService(
  t: Test,
  env: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const service = createService(t, env);
  await service.start();
  return service;
}
