import { constants } from 'node:os';
import type { FirstAccount } from '../accounts/accounts.ts';
import { copyableCommand } from '../config/copyable-command.ts';
import type { RunningService } from '../service/roles.ts';
import type { Output, Run } from './command.ts';

/** Signals this close together count as one: Ctrl-C reaches the process from the terminal and from npm. */
const ONE_SIGNAL_MS = 1000;

const AT_FIRST =
  'pressledger: Stopping when the conversions that are being rendered have ended; a second signal stops now.\n';
const IN_A_HURRY =
  'pressledger: Stopping now: conversions that are being rendered go back to the queue, uncounted.\n';
const AT_ONCE =
  'pressledger: Stopping at once: a conversion that has not been requeued by now counts as tried.\n';

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
    process.stderr.write([AT_FIRST, IN_A_HURRY][count - 1] ?? AT_ONCE);
    if (count === 1) return resolve();
    hurry.abort();
    if (count > 2) process.exit(128 + constants.signals[signal]);
  };
  process.on('SIGINT', listener).on('SIGTERM', listener).on('SIGHUP', listener);
  return { stop: promise, hurry: hurry.signal };
}

/** Lines for everybody who has started it. */
const whereItIs = ({ publicUrl, dataDir }: RunningService): readonly string[] => [
  `Pressledger is ready at ${publicUrl}`,
  `  Dashboard:  ${publicUrl}/`,
  `  Documentation:  ${publicUrl}/docs`,
  `  Data:  ${dataDir}`,
];

const anotherSecret = (dataDir: string, email: string): readonly string[] => [
  `  Another API key:   ${copyableCommand(dataDir, 'account', 'create-key', email, '--name', 'NAME')}`,
  `  Another password:  ${copyableCommand(dataDir, 'account', 'password', email)}`,
];

/** Tells the first user of an empty store how to go on; the commands work when pasted. */
function welcome({ publicUrl, dataDir }: RunningService, first: FirstAccount): readonly string[] {
  const { email, password, apiKey, credits } = first;
  return [
    `  Sign-in:  ${email} / ${password}`,
    `  API key:  ${apiKey}`,
    '  Both are shown only now.',
    '  First change the password, in the dashboard under Account. That opens the pages for operators.',
    ...anotherSecret(dataDir, email),
    `  Credits:  ${credits}, one for each PDF; then the API answers 402.`,
    `  More credits:      ${copyableCommand(dataDir, 'credits', 'grant', email, '1000')}`,
    `  For each customer: ${copyableCommand(dataDir, 'account', 'create', 'EMAIL')}`,
    '  Make a PDF, hello.pdf:',
    `    curl -fsS ${publicUrl}/api/v1/pdf/ -H 'X-API-Key: ${apiKey}' -H 'Content-Type: application/json' -H 'Prefer: wait=30' -H 'Accept: application/pdf' -d '{"html":"<h1>Hello from Pressledger</h1>","filename":"Hello"}' -o hello.pdf`,
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
    // A stop before the service is ready does not wait for Chrome.
    const ready = service.ready.then((firstAccount) => {
      output.json(startedJson(service.publicUrl, firstAccount));
      const next = firstAccount
        ? welcome(service, firstAccount)
        : anotherSecret(service.dataDir, 'EMAIL');
      for (const line of [...whereItIs(service), ...next]) output.line(line);
      return stop;
    });
    await Promise.race([ready, stop, service.ended]);
  } finally {
    await service.stop(hurry);
  }
}

export const start: Run = (_, { open, output }) => serve(open.startService, output);

export const api: Run = (_, { open, output }) => serve(open.startApiNode, output);

export const renderer: Run = async (_, { open, output }) => {
  const { stop, hurry } = shutdownSignals();
  const node = await open.startRenderer();
  try {
    output.json({ health_url: node.healthUrl });
    output.line(`Pressledger's renderer is ready; its health is at ${node.healthUrl}/readyz`);
    await stop;
  } finally {
    await node.stop(hurry);
  }
};
