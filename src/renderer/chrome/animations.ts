/** Brings a document's animations to the picture that belongs on paper, which depends on no moment. */

/** Rounds of finishing: what one animation's end changes may start a transition. */
const MAX_ROUNDS = 5;
/** The time at which SVG's animations stand, from their document's start. */
const SVG_SECONDS = 5;

/**
 * An expression for a world of a frame where no script of the page is. Finite animations and transitions that run are brought to
 * their end. Those without an end stand still at their start, and SVG's stand still at a later time. What the
 * page paused, or moves by scrolling, is left as it is. It evaluates to the number of animations that it
 * finished or stopped; 0 when asked again means that nothing moves.
 */
export const FINISH_ANIMATIONS = `(() => {
  const roots = [document];
  let done = 0;
  for (const root of roots) {
    const own = root === document ? Document.prototype : ShadowRoot.prototype;
    const find = (selector) => [...own.querySelectorAll.call(root, selector)];
    for (const each of find('*')) if (each.shadowRoot instanceof ShadowRoot) roots.push(each.shadowRoot);
    const moving = () => own.getAnimations.call(root).filter((each) =>
      each.playState === 'running' && each.timeline instanceof DocumentTimeline);
    let animations = moving();
    for (let round = 0; animations.length > 0 && round < ${MAX_ROUNDS}; round += 1) {
      for (const each of animations) {
        try {
          each.finish();
        } catch {
          each.pause();
          each.currentTime = 0;
        }
      }
      done += animations.length;
      animations = moving();
    }
    // One within another has a clock of its own.
    for (const svg of find('svg:has(animate,animateMotion,animateTransform,set)')) {
      if (!(svg instanceof SVGSVGElement) || svg.animationsPaused()) continue;
      svg.pauseAnimations();
      svg.setCurrentTime(${SVG_SECONDS});
      done += 1;
    }
  }
  return done;
})()`;
