/** An outage is told by two lines, whoever meets its errors. */
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { test } from 'tap';
import { EventStoreUnavailable } from '../../src/event-store/port.ts';
import { logUnlessTold } from '../../src/observe/log.ts';
import { isTold, Outage } from '../../src/observe/outage.ts';
import { startBackgroundLoop } from '../../src/process-managers/background-loop.ts';
import { eventually } from '../support/deadline.ts';

const QUIET_MS = 200;

function heard() {
  const lines: { readonly level: number; readonly msg: string; readonly reason?: string }[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line));
  const logger = pino({ level: 'info', hooks: { logMethod: logUnlessTold } }, { write });
  const outage = new Outage('the event store', logger, QUIET_MS);
  return { lines, logger, outage };
}

const away = () => new EventStoreUnavailable('It could not be read.', { cause: new Error('No.') });

void test('one line when it begins and one when it ends, also where some calls are answered', async (t) => {
  const { lines, outage } = heard();
  outage.worked();
  for (let n = 0; n < 5; n += 1) {
    outage.failed(away());
    outage.worked();
  }
  await pause(QUIET_MS / 4);
  outage.failed(away());
  await pause(2 * QUIET_MS);
  t.match(lines, [{ level: 40, msg: /^the event store does not/, reason: /No\.$/ }]);
  t.equal(lines.length, 1, 'nothing was answered since');
  outage.worked();
  await eventually('the end', () => (lines.length > 1 ? true : undefined));
  t.match(lines[1], { level: 30, msg: 'the event store answers again' });
  outage.worked();
  outage.failed(away());
  t.equal(lines.length, 3, 'the next one');
});

void test('a line for each further reason, and none for the same one met in other ways', async (t) => {
  const { lines, outage } = heard();
  outage.worked();
  const because = (text: string, call = 'It could not be read.') =>
    void outage.failed(new EventStoreUnavailable(call, { cause: new Error(text) }));
  because('read ECONNRESET');
  because('connect ECONNREFUSED 127.0.0.1:2113', 'An append failed.');
  because('4 DEADLINE_EXCEEDED: Deadline exceeded after 8.001s');
  because('The disk of node 1 is full.');
  because('The disk of node 2 is full.', 'An append failed.');
  because('connect ECONNREFUSED 127.0.0.1:2113');
  t.match(lines, [
    { level: 40, msg: /^the event store does not answer/, reason: /ECONNRESET\.$/ },
    {
      level: 40,
      msg: /^the event store fails for another reason, too/,
      reason: /node 1 is full\.$/,
    },
  ]);
  t.equal(lines.length, 2);
  for (let n = 0; n < 50; n += 1) because(`No. ${'x'.repeat(n)}`);
  t.equal(lines.length, 10, 'bounded');
  outage.worked();
  await eventually('the end', () => (lines.length > 10 ? true : undefined));
  because('The disk of node 1 is full.');
  t.match(lines[11], { msg: /^the event store does not answer/, reason: /is full\.$/ });
});

void test('what has never answered is for its opener to tell', async (t) => {
  const { lines, outage } = heard();
  t.notOk(isTold(outage.failed(away())));
  t.strictSame(lines, []);
});

void test('those who meet an error of an outage log nothing, and all else as before', async (t) => {
  const { lines, logger, outage } = heard();
  outage.worked();
  const errors = [outage.failed(away()), new Error('A fault of ours.')];
  let runs = 0;
  const step = async (): Promise<void> => {
    const error = errors[runs];
    runs += 1;
    if (error !== undefined) throw new Error('A step', { cause: error });
  };
  const loop = startBackgroundLoop('x', step, logger.child({ node: 1 }));
  await eventually('three runs', () => (runs > 2 ? true : undefined));
  await loop.stop();
  t.match(lines, [{ level: 40 }, { level: 50, msg: 'a step failed and will be tried again' }]);
  t.equal(lines.length, 2);
});
