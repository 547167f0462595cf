/** The parts of the tests, each with its command, and the rule that puts a file into one of them. */
import { existsSync, globSync } from 'node:fs';

/**
 * Files of e2e, crash, attack and dashboard, and clusters of servers, that take more than `LONGEST_QUICK_SECONDS` on two quiet cores. All others, and
 * every other unit, contract, api and renderer test, run with each change. In the order of their time, the longest first: so none
 * runs alone at the end.
 */
const LONG: readonly string[] = [
  'test/e2e/erasure.test.ts',
  'test/e2e/erasure-nodes.test.ts',
  'test/e2e/keyring-rewrap.test.ts',
  'test/crash/move.test.ts',
  'test/e2e/nodes-embedded.test.ts',
  'test/e2e/node-faults-embedded.test.ts',
  'test/e2e/faults.test.ts',
  'test/e2e/first-start.test.ts',
  'test/crash/one-machine.test.ts',
  'test/crash/backups.test.ts',
  'test/contract/nats-cluster.test.ts',
  'test/e2e/ctrl-c.test.ts',
  'test/e2e/cli.test.ts',
  'test/e2e/full-chrome.test.ts',
  'test/e2e/setup-chrome.test.ts',
  'test/e2e/metrics.test.ts',
  'test/attack/slots.test.ts',
  'test/e2e/transparency-log.test.ts',
  'test/e2e/changed-log.test.ts',
  'test/e2e/traces.test.ts',
  'test/e2e/package.test.ts',
  'test/dashboard/playground.test.ts',
  'test/dashboard/conversions.test.ts',
  'test/crash/nodes.test.ts',
  'test/e2e/doctor.test.ts',
  'test/attack/web-servers.test.ts',
  'test/dashboard/ended-sessions.test.ts',
  'test/dashboard/operations.test.ts',
  'test/dashboard/verify.test.ts',
  'test/e2e/evidence.test.ts',
  'test/dashboard/sign-in-and-keys.test.ts',
  'test/e2e/failed-starts.test.ts',
  'test/dashboard/provider-sign-in.test.ts',
  'test/attack/page-memory.test.ts',
  'test/e2e/two-processes.test.ts',
  'test/e2e/status.test.ts',
  'test/e2e/mail.test.ts',
  'test/attack/dashboard.test.ts',
  'test/e2e/cli-as-of.test.ts',
  'test/crash/log-copies.test.ts',
  'test/dashboard/templates.test.ts',
  'test/dashboard/conversion-states.test.ts',
  'test/dashboard/mail.test.ts',
  'test/attack/disk.test.ts',
  'test/e2e/convert-interrupted.test.ts',
  'test/e2e/cli-files.test.ts',
  'test/e2e/cli-move.test.ts',
  'test/dashboard/webhooks.test.ts',
  'test/e2e/cli-client.test.ts',
  'test/attack/data-dir.test.ts',
  'test/attack/sessions.test.ts',
  'test/attack/second-factors.test.ts',
  'test/dashboard/second-factors.test.ts',
  'test/attack/sign-ins.test.ts',
  'test/e2e/cli-standard-streams.test.ts',
  'test/e2e/backup-keyring.test.ts',
  'test/e2e/verify.test.ts',
  'test/attack/bodies.test.ts',
  'test/e2e/cli-projections.test.ts',
  'test/e2e/upgrades.test.ts',
  'test/attack/webhook-hosts.test.ts',
  'test/e2e/node-faults-server.test.ts',
  'test/e2e/nodes-server.test.ts',
];

const LONGEST_QUICK_SECONDS = 20;

export type Part = 'quick' | 'long' | 'interop';

/** The command of each part. */
export const COMMANDS: Readonly<Record<Part, string>> = {
  quick: 'npm test',
  long: 'npm run test:all',
  interop: 'npm run test:interop',
};

export const PARTS: readonly Part[] = ['quick', 'long', 'interop'];

/** Interop tests need programs that are written in other languages. */
export function partOf(file: string): Part {
  if (file.startsWith('test/interop/')) return 'interop';
  return LONG.includes(file) ? 'long' : 'quick';
}

/** The files of a part, in the order in which they are to be started. */
export const filesOf = (part: Part): readonly string[] =>
  part === 'long'
    ? LONG.filter((file) => existsSync(file))
    : globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] })
        .filter((file) => partOf(file) === part)
        .toSorted();

/** Names in the list above whose file is gone. */
export const lostNames = (): readonly string[] => LONG.filter((file) => !existsSync(file));

/** Tells that a file which took so long belongs in the list above. */
export const isTooLong = (file: string, seconds: number): boolean =>
  seconds > LONGEST_QUICK_SECONDS &&
  partOf(file) === 'quick' &&
  /^test\/(e2e|crash|attack|dashboard)\//.test(file);
