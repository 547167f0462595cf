/** The product as a user starts it: `bin/pressledger start` in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { PressledgerClient } from '../../src/client/client.ts';
import { eventually } from './deadline.ts';
import { createPlace, LAUNCHER, type Place } from './place.ts';
import { descendants, isAlive, type ProcessRecord, processesOf } from './processes.ts';

const START_MS = 60_000;
const STOP_MS = 45_000;

export interface FirstStart {
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
  /** The commands it tells the user to paste. */
  readonly convert: string;
  readonly fetch: string;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class Service {
  readonly place: Place;
  readonly #command: readonly [string, ...string[]];
  #child: ChildProcess | undefined;
  #ended: Promise<Ended> = Promise.resolve({ code: null, signal: null });
  #stdout = '';
  #stderr = '';
  #url = '';
  #firstStart: FirstStart | undefined;
  readonly #started: ProcessRecord[] = [];

  /** @param command how it is started, in an environment that a test prepares */
  constructor(place: Place, command: readonly [string, ...string[]] = [LAUNCHER, 'start']) {
    this.place = place;
    this.#command = command;
  }

  /** Of the running service. */
  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('It is not running.');
    return pid;
  }

  get url(): string {
    return this.#url;
  }

  /** What the first start printed. */
  get firstStart(): FirstStart {
    if (!this.#firstStart) throw new Error(`No first-start lines in: ${this.#stdout}`);
    return this.#firstStart;
  }

  /** Standard output and standard error since the last start. */
  get output(): { readonly stdout: string; readonly stderr: string } {
    return { stdout: this.#stdout, stderr: this.#stderr };
  }

  client(apiKey = this.firstStart.apiKey): PressledgerClient {
    return new PressledgerClient({ server: this.#url, apiKey });
  }

  /** Starts it and waits until it is ready. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#launch(env);
    const line = /^Pressledger is ready at (\S+)$/m;
    this.#url = await this.#unlessEnded(() => line.exec(this.#stdout)?.[1]);
    await this.#unlessEnded(async () => {
      const answer = await fetch(`${this.#url}/readyz`);
      await answer.body?.cancel();
      return answer.status === 200 ? true : undefined;
    });
    this.#firstStart ??= parseFirstStart(this.#stdout);
    this.#remember();
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

  /** SIGTERM, as a user or a supervisor stops it. */
  async stop(): Promise<Ended> {
    this.#remember();
    this.#child?.kill('SIGTERM');
    return await this.#end(STOP_MS);
  }

  /** SIGKILL to the service's own process alone. */
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

  /** Processes and temporary files that are still there a while after the end: there must be none. */
  async leftovers(): Promise<readonly string[]> {
    const { dataDir, tmpDir } = this.place;
    let left: readonly string[] = [];
    const none = (): true | undefined => {
      const running = [...this.#started.filter(isAlive), ...processesOf(tmpDir)];
      const folders = [tmpDir, join(dataDir, 'tmp')].filter((folder) => existsSync(folder));
      left = [
        ...running.map(({ pid, commandLine }) => `${pid} ${commandLine.slice(0, 200)}`),
        ...folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name))),
      ];
      return left.length === 0 ? true : undefined;
    };
    await eventually('the end of what it started', none, 5000).catch(() => {});
    return left;
  }

  #launch(env: Readonly<Record<string, string>>): void {
    this.#stdout = '';
    this.#stderr = '';
    const [command, ...args] = this.#command;
    const child = spawn(command, args, {
      env: { ...this.place.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
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

function parseFirstStart(stdout: string): FirstStart | undefined {
  const line = (pattern: RegExp): string => pattern.exec(stdout)?.[1] ?? '';
  const signIn = /^ {2}Sign-in: {2}(\S+) \/ (\S+)$/m.exec(stdout);
  if (!signIn) return undefined;
  return {
    email: signIn[1] ?? '',
    password: signIn[2] ?? '',
    apiKey: line(/^ {2}API key: {2}(\S+)$/m),
    convert: line(/^ {2}Convert a document:\n {4}(.+)$/m),
    fetch: line(/^ {2}Fetch the PDF:\n {4}(.+)$/m),
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
