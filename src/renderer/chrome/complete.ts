/** Brings a page that has loaded to what belongs on paper. */
import { type Finished, finishAnimations, openClosed } from './animations.ts';
import type { Deadline } from './deadline.ts';
import type { IsolatedWorld } from './isolated-world.ts';
import type { ClockState } from './page-clock.ts';
import type { RunAhead } from './run-ahead.ts';
import type { Tab } from './tab.ts';
import { drawFrame, drawFrames, showWhole, untilAtRest } from './view.ts';
import type { Waits } from './waits.ts';

/** One round may make another one needed: an observer draws a chart, whose end starts a fade. */
const MAX_ROUNDS = 4;

export interface CompletionParts {
  readonly tab: Tab;
  readonly world: IsolatedWorld;
  readonly runAhead: RunAhead;
  readonly deadline: Deadline;
  readonly waits: Waits;
}

/**
 * Lets scripts end what they draw and animations come to their end. One frame is drawn for each page, meanwhile:
 * it brings fields their focus and listeners the news of scrolling and sizes, which would else be on paper by
 * chance. More are drawn for pages that ask for what only frames bring.
 * @returns what its scripts asked for
 */
export async function completePage(parts: CompletionParts): Promise<ClockState> {
  const { tab, world, runAhead, deadline, waits } = parts;
  let viewed = 0;
  let drawn = -1;
  const firstFrame = drawFrame(tab, world, deadline);
  // A page that fails before it is waited for fails by what it failed at.
  firstFrame.catch(() => {});
  const finish = async (): Promise<number> =>
    await finishAnimations(
      (expression) => world.evaluate<Finished>(expression),
      () => world.within((contextId) => openClosed(tab, contextId)),
    );
  let state: ClockState;
  for (let round = 0; ; round += 1) {
    state = await runAhead.run();
    if (round === MAX_ROUNDS) break;
    const needed = state.needsFrames + (tab.workers.any ? 1 : 0);
    const watches = state.watchesView + state.scripts;
    if (watches > viewed) {
      viewed = watches;
      if (await showWhole(tab, world, deadline, waits)) drawn = needed;
      else if (state.watchesView > 0) await drawFrames(tab, world, deadline);
    } else if (needed > drawn) {
      await (needed === 0 ? firstFrame : drawFrames(tab, world, deadline));
      await untilAtRest(world, deadline);
      drawn = needed;
    } else if ((await finish()) > 0) {
      // Their events come with a frame.
      await drawFrames(tab, world, deadline);
    } else break;
  }
  runAhead.noteUnfinished(state);
  return state;
}
