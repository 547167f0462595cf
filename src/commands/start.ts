import { constants } from 'node:os';
import type { RunningService } from '../core.ts';
import type { FirstAccount } from '../use-cases/accounts.ts';
import type { Command, Output } from './command.ts';

/** Signals this close together count as one: Ctrl-C reaches the process from the terminal and from npm. */
const ONE_SIGNAL_MS = 1000;

const IN_A_HURRY =
  'pressledger: Stopping now: conversions that are being rendered go back to the queue, uncounted.\n';
const AT_ONCE =
  'pressledger: Stopping at once: what has not been put back by now counts as tried.\n';

export interface ShutdownSignals {
  /** Resolves at the first signal. */
  readonly stop: Promise<void>;
  /** Aborted by a second signal: nothing under way is waited for. */
  readonly hurry: AbortSignal;
}

/**
 * Follows the signals that ask the process to stop: SIGTERM from a supervisor, SIGINT from a terminal,
 * SIGHUP from one that is closed. The third ends it at once, should something hang.
 */
export function shutdownSignals(): ShutdownSignals {
  const { promise, resolve } = Promise.withResolvers<void>();
  const hurry = new AbortController();
  let count = 0;
  let lastAt = -ONE_SIGNAL_MS;
  const listener = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void => {
    const now = performance.now();
    if (now - lastAt < ONE_SIGNAL_MS) return;
    lastAt = now;
    count += 1;
    if (count === 1) return resolve();
    process.stderr.write(count === 2 ? IN_A_HURRY : AT_ONCE);
    hurry.abort();
    if (count > 2) process.exit(128 + constants.signals[signal]);
  };
  process.on('SIGINT', listener).on('SIGTERM', listener).on('SIGHUP', listener);
  return { stop: promise, hurry: hurry.signal };
}

/** Tells the first user of an empty store how to go on; both commands work when pasted. */
function welcome(publicUrl: string, { email, password, apiKey }: FirstAccount): readonly string[] {
  const api = `${publicUrl}/api/v1`;
  const record = `${api}/conversions/$(sed -E 's/.*"id":"([^"]+)".*/\\1/' conversion.json)/`;
  const read = `curl -sS -H 'X-API-Key: ${apiKey}' -H 'Prefer: wait=30' "${record}"`;
  return [
    `  Sign-in:  ${email} / ${password}`,
    `  API key:  ${apiKey}`,
    '  Both are shown only now.',
    `  Reference: ${publicUrl}/docs`,
    '  Convert a document:',
    `    curl -sS ${api}/pdf/ -H 'X-API-Key: ${apiKey}' -H 'Content-Type: application/json' -d '{"html":"<h1>Hello from Pressledger</h1>"}' | tee conversion.json`,
    '  Fetch the PDF:',
    `    curl -sS -o document.pdf "$(${read} | sed -E 's/.*"file_url":"([^"]+)".*/\\1/')"`,
  ];
}

/** The same for a program: the secrets are shown only now. */
function startedJson(url: string, firstAccount: FirstAccount | undefined): object {
  if (!firstAccount) return { url };
  const { email, password, apiKey } = firstAccount;
  return { url, first_account: { email, password, api_key: apiKey } };
}

/** Says when the service is ready, and stops it at a signal. */
async function serve(begin: () => Promise<RunningService>, output: Output): Promise<void> {
  const { stop, hurry } = shutdownSignals();
  const service = await begin();
  try {
    // Whoever stops the service before it is ready need not wait for Chrome.
    const ready = service.ready.then((firstAccount) => {
      output.json(startedJson(service.publicUrl, firstAccount));
      output.line(`Pressledger is ready at ${service.publicUrl}`);
      if (firstAccount) {
        for (const line of welcome(service.publicUrl, firstAccount)) output.line(line);
      }
      return stop;
    });
    await Promise.race([ready, stop, service.ended]);
  } finally {
    await service.stop(hurry);
  }
}

export const start: Command = {
  name: 'start',
  usage: '',
  summary: 'Run the whole service in one process: API, process managers, renderer.',
  role: 'start',
  examples: ['start'],
  positionals: {},
  options: {},
  run: (_, { startService, output }) => serve(startService, output),
};

export const api: Command = {
  name: 'api',
  usage: '',
  summary: 'Run the API and the process managers; renderers take jobs from NATS_URL.',
  role: 'api',
  examples: ['api'],
  positionals: {},
  options: {},
  run: (_, { startApiNode, output }) => serve(startApiNode, output),
};
