import { constants } from 'node:os';
import type { RunningService } from '../core.ts';
import type { FirstAccount } from '../use-cases/accounts.ts';
import type { Command, Output } from './command.ts';

/** Signals this close together count as one: Ctrl-C reaches the process from the terminal and from npm. */
const ONE_SIGNAL_MS = 1000;

/**
 * Resolves when the process is asked to stop: SIGTERM from a supervisor, SIGINT from a terminal. A later
 * signal ends the process at once; what it was rendering then counts as tried.
 */
export function shutdownSignal({ progress }: Pick<Output, 'progress'>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let askedAt: number | undefined;
  const listener = (signal: 'SIGINT' | 'SIGTERM'): void => {
    const now = performance.now();
    askedAt ??= now;
    resolve();
    if (now - askedAt < ONE_SIGNAL_MS) return;
    progress('A second signal: the process ends at once.');
    process.exit(128 + constants.signals[signal]);
  };
  process.on('SIGINT', listener).on('SIGTERM', listener);
  return promise;
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
  const stop = shutdownSignal(output);
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
    await service.stop();
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
