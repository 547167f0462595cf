/** Brings a document's animations to the picture that belongs on paper, which depends on no moment. */
import type { Tab } from './tab.ts';

/** Rounds of finishing: what one animation's end changes may start a transition. */
const MAX_ROUNDS = 5;
/** The most closed roots of a document that are opened: each takes about a millisecond. */
const MAX_OPENED = 2_000;
/** The time at which SVG's animations stand, from their document's start. */
const SVG_SECONDS = 5;

// Chrome keeps what `use` shows, and the parts of a progress bar, in closed shadow roots. No list of a document's
// animations has those within. The roots that DevTools gave are kept for as long as the document. Names on `document`
// may be covered by elements of that name: hence the prototype's own.
const FIND = `
  const known = (globalThis[Symbol.for('closed roots')] ??= new WeakMap());
  const own = (root) => (root === document ? Document : ShadowRoot).prototype;
  const find = (root, selector) => [...own(root).querySelectorAll.call(root, selector)];
  const roots = [document];
  for (const root of roots) {
    for (const each of find(root, '*')) {
      const shadow = each.shadowRoot instanceof ShadowRoot ? each.shadowRoot : known.get(each);
      if (shadow !== undefined) roots.push(shadow);
    }
  }
  const inner = (element, selector) => [...Element.prototype.querySelectorAll.call(element, selector)];
  const moves = new Map();
  const mayMove = (root, use) => {
    const { baseVal } = use.href;
    const target = baseVal.startsWith('#') ? own(root).getElementById.call(root, baseVal.slice(1)) : null;
    if (target === null) return true;
    if (!moves.has(target)) {
      moves.set(target, inner(target, 'use').length > 0 || [target, ...inner(target, '*')].some((each) => {
        const { animationName, transitionDuration } = getComputedStyle(each);
        return animationName !== 'none' || /[1-9]/.test(transitionDuration);
      }));
    }
    return moves.get(target);
  };
  const closed = roots.flatMap((root) => find(root, 'use,progress').filter((each) => !known.has(each) &&
    (each instanceof HTMLProgressElement || (each instanceof SVGUseElement && mayMove(root, each)))))
    .slice(0, ${MAX_OPENED} - (known.count ?? 0));`;

const FINISH = `
  const finish = (root) => {
    let done = 0;
    const moving = () => own(root).getAnimations.call(root).filter((each) =>
      each.playState === 'running' && each.timeline instanceof DocumentTimeline);
    let animations = moving();
    for (let round = 0; animations.length > 0 && round < ${MAX_ROUNDS}; round += 1) {
      for (const each of animations) {
        try {
          each.finish();
        } catch {
          each.cancel();
        }
      }
      done += animations.length;
      animations = moving();
    }
    // An SVG's clock is also that of what use shows in it. One within another has a clock of its own.
    const timed = 'animate,animateMotion,animateTransform,set';
    const timers = find(root, timed).length > 0 ? find(root, 'svg:has(' + timed + ',use)') : [];
    for (const svg of timers) {
      if (!(svg instanceof SVGSVGElement) || svg.animationsPaused()) continue;
      svg.pauseAnimations();
      svg.setCurrentTime(${SVG_SECONDS});
      done += 1;
    }
    return done;
  };`;

// A bar without a value is drawn by the time. It gets the value that looks like its start. What the page's styles make
// of a value is undone.
const HOLD_BARS = `
  const bars = roots.flatMap((root) => find(root, 'progress:indeterminate')).filter((each) =>
    known.has(each) && getComputedStyle(each).appearance !== 'none');
  const parts = bars.flatMap((bar) => [bar, ...find(known.get(bar), '*')]).map((each) => {
    const style = getComputedStyle(each);
    const names = Array.from(style).filter((name) => !name.startsWith('transition'));
    return { each, style, before: names.map((name) => [name, style.getPropertyValue(name)]) };
  });
  for (const { each } of parts) each.style.setProperty('transition', 'none', 'important');
  for (const bar of bars) bar.value = bar.max / 5;
  const changed = parts.map(({ style, before }) => before.filter(([name, value]) => style.getPropertyValue(name) !== value));
  for (const [index, { each }] of parts.entries()) {
    for (const [name, value] of changed[index]) each.style.setProperty(name, value, 'important');
  }`;

export interface Finished {
  /** The number of animations that were finished or stopped; 0 when asked again means that nothing moves. */
  readonly done: number;
  /** True where `openClosed` brings more to finish. */
  readonly hasClosed: boolean;
}

/**
 * An expression for a world of a frame where no script of the page is. Finite animations and transitions that run are
 * brought to their end. Those without an
 * end are cancelled, so that an element stands as its own style says. SVG's stand still at a later time. What the
 * page paused, or moves by scrolling, is left as it is. It evaluates to `Finished`.
 */
export const FINISH_ANIMATIONS = `(() => {${FIND}${FINISH}
  const done = roots.reduce((sum, root) => sum + finish(root), 0);${HOLD_BARS}
  return { done, hasClosed: closed.length > 0 };
})()`;

const FIND_CLOSED = `(() => {${FIND}
  return closed;
})()`;
const KEEP = `function (...opened) {
  const known = globalThis[Symbol.for('closed roots')];
  for (const root of opened) known.set(root.host, root);
  known.count = (known.count ?? 0) + opened.length;
}`;

/**
 * Gives a world of the page's main frame what `FINISH_ANIMATIONS` misses there: the shadow roots that no script can
 * reach. Then it is to be asked again.
 * @param contextId the world; that of the page's scripts without one
 */
export async function openClosed(tab: Pick<Tab, 'send'>, contextId?: number): Promise<void> {
  const context = contextId === undefined ? {} : { contextId };
  const found = await tab.send('Runtime.evaluate', { expression: FIND_CLOSED, ...context });
  const { objectId } = found.result;
  if (objectId === undefined) return;
  const listed = await tab.send('Runtime.getProperties', { objectId, ownProperties: true });
  const opened = listed.result.flatMap(({ name, value }) =>
    /^\d+$/.test(name) && value?.objectId !== undefined ? [{ objectId: value.objectId }] : [],
  );
  const described = await Promise.all(opened.map((host) => tab.send('DOM.describeNode', host)));
  const inWorld = contextId === undefined ? {} : { executionContextId: contextId };
  const roots = await Promise.all(
    described
      .flatMap(({ node }) => node.shadowRoots ?? [])
      .map(({ backendNodeId }) => tab.send('DOM.resolveNode', { backendNodeId, ...inWorld })),
  );
  await tab.send('Runtime.callFunctionOn', {
    objectId,
    functionDeclaration: KEEP,
    arguments: roots.flatMap(({ object }) =>
      object.objectId === undefined ? [] : [{ objectId: object.objectId }],
    ),
  });
}

/**
 * Finishes all animations of a page.
 * @param evaluate in the world that `open` calls `openClosed` for
 * @returns their number; 0 when asked again means that nothing moves
 */
export async function finishAnimations(
  evaluate: (expression: string) => Promise<Finished | undefined>,
  open: () => Promise<unknown>,
): Promise<number> {
  let done = 0;
  // An opened root may have more of these elements within.
  for (let round = 0; ; round += 1) {
    const finished = await evaluate(FINISH_ANIMATIONS);
    done += finished?.done ?? 0;
    if (finished?.hasClosed !== true || round === MAX_ROUNDS) return done;
    await open();
  }
}
