import { test } from 'tap';
import { CommandRefused } from '../../../src/renderer/browser/connection.ts';
import { ChromeGone } from '../../../src/renderer/browser/failure.ts';
import { isHeadlessShell } from '../../../src/renderer/browser/find.ts';
import { Frames } from '../../../src/renderer/chrome/frames.ts';

/** Resolves `drawn` at the frame of that number. */
function counting(number: number, fail: (frame: number) => Error | undefined = () => undefined) {
  const { promise: drawn, resolve } = Promise.withResolvers<string>();
  const seen = { frames: 0, drawn };
  const draw = async (): Promise<void> => {
    seen.frames += 1;
    if (seen.frames === number) resolve('drawn');
    const failure = fail(seen.frames);
    if (failure) throw failure;
  };
  return { seen, frames: new Frames(draw) };
}

void test('frames are drawn until what waits for them is there, and no longer', async (t) => {
  const { seen, frames } = counting(6);
  t.equal(await frames.during(seen.drawn), 'drawn');
  const after = seen.frames;
  const again = counting(3);
  await again.frames.during(again.seen.drawn);
  t.ok(after <= 7, 'at most the one that was under way');
  t.equal(seen.frames, after);
});

void test('what is there at once has no frame drawn', async (t) => {
  const { seen, frames } = counting(1);
  t.equal(await frames.during(Promise.resolve('there'), 1_000), 'there');
  t.equal(seen.frames, 0);
});

void test('waits at the same time share their frames', async (t) => {
  const { seen, frames } = counting(4);
  t.same(await Promise.all([frames.during(seen.drawn), frames.during(seen.drawn, 1)]), [
    'drawn',
    'drawn',
  ]);
  t.ok(seen.frames <= 5, `${seen.frames} frames`);
});

void test('a frame that is refused is tried again, and one of a tab that is gone is not', async (t) => {
  const busy = counting(5, (frame) => (frame < 5 ? new CommandRefused('pending') : undefined));
  t.equal(await busy.frames.during(busy.seen.drawn), 'drawn');
  const gone = counting(1, () => new ChromeGone('The tab crashed.'));
  t.equal(await gone.frames.during(gone.seen.drawn), 'drawn');
  t.equal(gone.seen.frames, 1);
  await t.rejects(gone.frames.during(Promise.reject(new Error('its own'))), /its own/);
});

void test('a frame that has not ended is known, for nothing is drawn in its tab before', async (t) => {
  const begun = Promise.withResolvers<void>();
  const frame = Promise.withResolvers<void>();
  const frames = new Frames(async () => {
    begun.resolve();
    await frame.promise;
  });
  t.equal(await frames.haveEnded(), true);
  await frames.during(begun.promise);
  t.equal(await frames.haveEnded(), false);
  frame.resolve();
  t.equal(await frames.haveEnded(), true);
});

void test('a Chrome that draws by itself is not asked', async (t) => {
  t.equal(await new Frames(undefined).during(Promise.resolve(1)), 1);
});

void test('only a headless shell draws on command', (t) => {
  t.ok(isHeadlessShell('/usr/lib/chromium/chromium-headless-shell'));
  t.ok(isHeadlessShell('/usr/lib/chromium-browser/headless_shell'));
  t.notOk(isHeadlessShell('/opt/google/chrome/chrome'));
  t.end();
});
