/** The product as a user starts it: `bin/pressledger start` in a process of its own, or a role of it. */
import type { Test } from 'tap';
import { PressledgerClient } from '../../client/src/client.ts';
import { Launched } from './launched.ts';
import { createPlace, LAUNCHER, type Place } from './place.ts';

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
