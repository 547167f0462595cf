/* oxlint-disable typescript/unbound-method, no-unused-vars -- methods get their object later; `page-clock.js` calls it */
/**
 * Counts what a page asks for that only a drawn frame answers: running its clock ahead does not bring it. Runs before the
 * scripts of the page, in their world.
 */
function countFrameNeeds() {
  const { apply } = Reflect;
  const seen = { watchesView: 0, needsFrames: 0, asksPrint: false };
  /** @type {(prototype: object, name: string, kind: 'watchesView' | 'needsFrames') => void} */
  const count = (prototype, name, kind) => {
    const method = Reflect.get(prototype, name);
    if (typeof method !== 'function') return;
    Object.assign(prototype, {
      /** @param {unknown[]} values */
      [name](...values) {
        seen[kind] += 1;
        return apply(method, this, values);
      },
    });
  };
  count(IntersectionObserver.prototype, 'observe', 'watchesView');
  count(ResizeObserver.prototype, 'observe', 'needsFrames');
  count(HTMLCanvasElement.prototype, 'transferControlToOffscreen', 'needsFrames');
  count(Document.prototype, 'startViewTransition', 'needsFrames');
  for (const name of ['resizeTo', 'resizeBy', 'moveTo', 'moveBy']) {
    count(window, name, 'needsFrames');
  }
  const { matchMedia } = window;
  Object.assign(window, {
    /** @param {unknown} query */
    matchMedia(query) {
      seen.needsFrames += 1;
      if (/print/i.test(String(query))) seen.asksPrint = true;
      return apply(matchMedia, window, [query]);
    },
  });
  return seen;
}
