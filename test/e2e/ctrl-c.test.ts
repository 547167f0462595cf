/** `npm start` on a terminal, and Ctrl-C typed there: it reaches the service from the terminal and from npm. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Test, test } from 'tap';
import { eventually } from '../support/deadline.ts';
import { readLog, violations } from '../support/invariants.ts';
import { createPlace } from '../support/place.ts';
import { Service } from '../support/service.ts';

const ROOT = join(import.meta.dirname, '../..');
const CTRL_C = '\u0003';
/** Gives a command a terminal; a part of every Debian. */
const SCRIPT = '/usr/bin/script';
/** Made by npm. */
const COMPILE_CACHE = 'node-compile-cache';
const options = existsSync(SCRIPT) ? {} : { skip: `${SCRIPT} is missing: install util-linux` };

function serviceOnTerminal(t: Test): Service {
  // Not a child of a shell that the same Ctrl-C ends.
  const command = `exec npm --prefix '${ROOT}' start`;
  const place = createPlace(t, { SHELL: '/bin/sh', NO_UPDATE_NOTIFIER: '1' });
  const service = new Service(place, [SCRIPT, '-qefc', command, '/dev/null']);
  t.teardown(async () => {
    await service.kill();
    // Its terminal is closed, so it stops by itself.
    await service.leftovers(COMPILE_CACHE);
  });
  return service;
}

/** Asks for a conversion and waits until it is being rendered. */
async function renderingOne(service: Service, delay_ms: number): Promise<string> {
  const { id } = await service.client().create({ html: '<p>slow</p>', wait_for: { delay_ms } });
  await processing(service, id);
  return id;
}

async function processing(service: Service, id: string): Promise<void> {
  const status = async () => (await service.client().get(id)).status;
  await eventually('its start', async () => (await status()) === 'processing' || undefined);
}

const typesOf = (service: Service): readonly string[] =>
  readLog(service.place.dataDir).map(({ type }) => type);
const leftBy = (service: Service): Promise<readonly string[]> => service.leftovers(COMPILE_CACHE);
const count = (service: Service, type: string): number =>
  typesOf(service).filter((each) => each === type).length;

void test('Ctrl-C lets a rendering end, also where it is typed twice', options, async (t) => {
  const service = serviceOnTerminal(t);
  await service.start();
  for (const typed of [CTRL_C, CTRL_C + CTRL_C, CTRL_C]) {
    const id = await renderingOne(service, 5000);
    service.type(typed);
    t.match(await service.end(), { code: 0, signal: null });
    t.match(service.output.stdout, /stopped/);
    t.notMatch(service.output.stdout, /Stopping now/);
    await service.start();
    t.match(await service.client().wait(id), { status: 'completed' });
  }
  t.equal(count(service, 'ConversionStarted'), 3, 'one try each');
  t.strictSame(violations(readLog(service.place.dataDir), { settled: true }), []);
});

void test('a later Ctrl-C puts the rendering back, and no try counts', options, async (t) => {
  const service = serviceOnTerminal(t);
  await service.start();
  const id = await renderingOne(service, 10_000);
  // As often as a conversion may be tried.
  for (let round = 1; round <= 3; round += 1) {
    await processing(service, id);
    service.type(CTRL_C);
    await eventually('the stop', () => /stopping/.test(service.output.stdout) || undefined);
    // Those within a second of the first count as one with it.
    for (;;) {
      await pause(300);
      if (/Stopping now/.test(service.output.stdout)) break;
      service.type(CTRL_C);
    }
    t.match(await service.end(), { code: 0, signal: null });
    t.match(service.output.stdout, /stopped/);
    t.equal(count(service, 'ConversionRequeued'), round);
    await service.start();
  }
  t.match(await service.client().wait(id), { status: 'completed' });
  const log = readLog(service.place.dataDir);
  t.strictSame(violations(log, { settled: true }), []);
  const last = log.findLast(({ type }) => type === 'ConversionStarted');
  t.match(last?.data, /"attempt":1\b/, 'the try that counted was the first');
  service.type(CTRL_C);
  t.match(await service.end(), { code: 0, signal: null });
  t.strictSame(await leftBy(service), []);
});

void test('a closed terminal stops the service, and no try counts for it', options, async (t) => {
  const service = serviceOnTerminal(t);
  await service.start();
  const id = await renderingOne(service, 5000);
  await service.kill();
  t.strictSame(await leftBy(service), []);
  await service.start();
  t.match(await service.client().wait(id), { status: 'completed' });
  t.equal(count(service, 'ConversionStarted'), 1);
});
