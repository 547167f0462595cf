/* oxlint-disable typescript/unbound-method, no-unused-vars -- methods get their object later; `page-clock.js` calls it */
/**
 * The time of a page: every way to ask for it gives the time of the window's own clock and what the page's is ahead of it.
 * Runs before the scripts of the page, in their world, and takes the functions that it needs before the page can replace
 * them.
 */
function replaceTime() {
  const { apply, construct } = Reflect;
  const { performance } = window;
  const NativeDate = Date;
  const { max, round } = Math;
  const nativeNow = Performance.prototype.now;
  const nativeDateNow = NativeDate.now;
  /** The time of the window's own clock at which the document began: above 0 where it was written into a window. */
  let begun = 0;
  /** Milliseconds by which the page's clock is ahead of the window's own. */
  let ahead = 0;

  Object.assign(Performance.prototype, {
    now() {
      return apply(nativeNow, this, []) + ahead;
    },
  });
  const timeOrigin = Object.getOwnPropertyDescriptor(Performance.prototype, 'timeOrigin')?.get;
  Object.defineProperty(Performance.prototype, 'timeOrigin', {
    get() {
      return apply(/** @type {() => number} */ (timeOrigin), this, []) + begun;
    },
    enumerable: true,
    configurable: true,
  });
  const dateNow = () => apply(nativeDateNow, NativeDate, []) + round(begun + ahead);
  Object.assign(NativeDate, {
    now() {
      return dateNow();
    },
  });
  // A page may set a `Date.now` of its own, which makes a date.
  const PageDate = new Proxy(NativeDate, {
    construct: (target, values, made) =>
      construct(target, values.length === 0 ? [dateNow()] : values, made),
    apply: () => new PageDate().toString(),
  });
  NativeDate.prototype.constructor = PageDate;
  window.Date = PageDate;

  /** Milliseconds by the window's own clock. */
  const realNow = () => apply(nativeNow, performance, []);
  const now = () => realNow() + ahead;
  return {
    realNow,
    /** Milliseconds by the page's clock. */
    now,
    /** @param {number} real the time that Chrome gives to a callback */
    ofPage: (real) => real + ahead,
    /** Milliseconds by which the page's clock has run ahead since its document began. */
    ranAhead: () => begun + ahead,
    /** @param {number} time by the page's clock, which goes there unless it is past it */
    reach: (time) => {
      ahead += max(0, time - now());
    },
    /** Begins again with the document. */
    begin: () => {
      begun = realNow();
      ahead = -begun;
    },
  };
}
