import { pino } from 'pino';
import { test } from 'tap';
import { Unattended } from '../../src/render-queue/unattended.ts';

void test('that nobody renders is said once for each time, and not at once', (t) => {
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  const unattended = new Unattended(logger);
  const said = (): number => lines.length;
  unattended.look(3, 0, 0);
  unattended.look(3, 0, 9_999);
  t.equal(said(), 0);
  unattended.look(4, 0, 10_000);
  unattended.look(5, 0, 60_000);
  t.equal(said(), 1);
  t.match(JSON.parse(lines[0] ?? ''), { waiting: 4, msg: /no renderer node/ });
  unattended.look(5, 2, 61_000);
  unattended.look(5, 0, 62_000);
  t.equal(said(), 1);
  unattended.look(0, 0, 70_000);
  unattended.look(1, 0, 75_000);
  unattended.look(1, 0, 80_000);
  t.equal(said(), 1, 'where nothing waits nobody is missed');
  unattended.look(1, 0, 85_000);
  t.equal(said(), 2);
  t.end();
});
