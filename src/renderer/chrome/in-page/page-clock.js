/* oxlint-disable typescript/unbound-method, no-unused-vars -- methods get their object later; the reader of this text calls it */
/**
 * The clock of a page, by which its timers, frames and dates go. It runs as real time does until it is told
 * to run ahead: then the timers that are due and the frames that were asked for come at once, in their order,
 * and every way to ask for the time agrees with them (`page-time.js`).
 *
 * This runs in each document before the scripts of the page, in their world. It takes the functions that it
 * needs before the page can replace them. Requests and answers are events at `performance`, the one target
 * that the worlds of a document share and that `document.open` leaves alone.
 *
 * @param {string} channel the name of these events
 */
function startPageClock(channel) {
  const { apply } = Reflect;
  const performance = window.performance;
  // The first document of a frame may share its window with the next one, and with it this clock.
  if (!performance.dispatchEvent(new CustomEvent(channel, { cancelable: true }))) return;
  const native = {
    setTimeout: window.setTimeout,
    clearTimeout: window.clearTimeout,
    setInterval: window.setInterval,
    clearInterval: window.clearInterval,
    requestAnimationFrame: window.requestAnimationFrame,
    cancelAnimationFrame: window.cancelAnimationFrame,
    requestIdleCallback: window.requestIdleCallback,
    cancelIdleCallback: window.cancelIdleCallback,
    answer: performance.dispatchEvent.bind(performance),
    reportError: window.reportError.bind(window),
    queueMicrotask: window.queueMicrotask.bind(window),
    CustomEvent,
  };
  const { parse, stringify } = JSON;
  const { min, max } = Math;
  /** Milliseconds after which a page that runs ahead may not move on to another one any more. */
  const MOVES_ON_MS = 1_000;

  const { now, realNow, ofPage, ranAhead, reach, begin } = replaceTime();
  const seen = countFrameNeeds();
  const scriptsOf = Object.getOwnPropertyDescriptor(Document.prototype, 'scripts')?.get;

  /**
   * A timer that is set for longer does not draw: it takes a message away, moves a slider on or ends a session. It is left to
   * real time. So is an interval of this length, which counts seconds.
   */
  const LONGEST_MS = 1_000;
  /** Timers that one turn of a script sets in steps of at most this draw one after another, however many they are. */
  const ROW_STEP_MS = 500;

  /** @typedef {{ draws: boolean, due: number, level: number, calls: number, once: boolean, run: () => void }} Timer */
  // Real time calls each timer by its native one; running ahead calls it earlier.
  // Old libraries replace methods of arrays and maps by others of the same name.
  const { set, has, delete: remove, forEach } = Map.prototype;
  const newMap = () => Object.assign(new Map(), { set, has, delete: remove, forEach });
  /** @type {Map<number, Timer>} */
  const timers = newMap();
  /** @type {Map<number, FrameRequestCallback>} */
  const frames = newMap();
  /** @type {Map<number, IdleRequestCallback>} */
  const idles = newMap();
  /** How many timers led to the one that runs. */
  let level = 0;
  /** The milliseconds of the last timer that draws and that this turn of a script set; 0 without one. */
  let row = 0;
  const endRow = () => {
    row = 0;
  };
  /** Browsers let a timer that five others led to wait this long at least. */
  const NESTED_MS = 4;
  let frameTime = 0;

  const replaced = {
    /** @param {unknown} handler @param {unknown} [delay] @param {unknown[]} values */
    setTimeout(handler, delay, ...values) {
      const ms = max(0, Number(delay) | 0);
      // A text is code that the page's own policy may forbid: it stays Chrome's.
      if (typeof handler !== 'function') return apply(native.setTimeout, window, [handler, ms]);
      const ownLevel = level + 1;
      const run = () => {
        timers.delete(id);
        level = ownLevel;
        try {
          apply(handler, window, values);
        } finally {
          level = 0;
        }
      };
      /** @type {number} */
      const id = apply(native.setTimeout, window, [run, ms]);
      const due = now() + (ownLevel > 5 ? max(ms, NESTED_MS) : ms);
      const draws = ms <= LONGEST_MS || (row > 0 && ms - row <= ROW_STEP_MS);
      if (draws) {
        if (row === 0) native.queueMicrotask(endRow);
        row = max(row, ms, 1);
      }
      timers.set(id, { draws, due, level: ownLevel, calls: 0, once: true, run });
      return id;
    },
    /** @param {unknown} handler @param {unknown} [delay] @param {unknown[]} values */
    setInterval(handler, delay, ...values) {
      const ms = max(0, Number(delay) | 0);
      if (typeof handler !== 'function') return apply(native.setInterval, window, [handler, ms]);
      const period = max(ms, NESTED_MS);
      const run = () => {
        timer.due = now() + period;
        timer.calls += 1;
        apply(handler, window, values);
      };
      const draws = ms < LONGEST_MS;
      const timer = { draws, due: now() + period, level: 1, calls: 0, once: false, run };
      /** @type {number} */
      const id = apply(native.setInterval, window, [run, ms]);
      timers.set(id, timer);
      return id;
    },
    /** @param {unknown} [id] */
    clearTimeout(id) {
      timers.delete(Number(id));
      apply(native.clearTimeout, window, [id]);
    },
    /** @param {unknown} [id] */
    clearInterval(id) {
      timers.delete(Number(id));
      apply(native.clearInterval, window, [id]);
    },
    /** @param {FrameRequestCallback} callback */
    requestAnimationFrame(callback) {
      if (typeof callback !== 'function') {
        return apply(native.requestAnimationFrame, window, [callback]);
      }
      /** @param {number} time */
      const run = (time) => {
        frames.delete(id);
        frameTime = max(frameTime, ofPage(time));
        callback(frameTime);
      };
      /** @type {number} */
      const id = apply(native.requestAnimationFrame, window, [run]);
      frames.set(id, callback);
      return id;
    },
    /** @param {unknown} id */
    cancelAnimationFrame(id) {
      frames.delete(Number(id));
      apply(native.cancelAnimationFrame, window, [id]);
    },
    /** @param {IdleRequestCallback} callback @param {IdleRequestOptions} [options] */
    requestIdleCallback(callback, options) {
      if (typeof callback !== 'function') {
        return apply(native.requestIdleCallback, window, [callback]);
      }
      /** @param {IdleDeadline} deadline */
      const run = (deadline) => {
        idles.delete(id);
        callback(deadline);
      };
      /** @type {number} */
      const id = apply(native.requestIdleCallback, window, [run, options]);
      idles.set(id, callback);
      return id;
    },
    /** @param {unknown} id */
    cancelIdleCallback(id) {
      idles.delete(Number(id));
      apply(native.cancelIdleCallback, window, [id]);
    },
  };
  Object.assign(window, replaced);
  const { postTask } = Scheduler.prototype;
  Object.assign(Scheduler.prototype, {
    /** @param {unknown} task @param {{ delay?: number } | null} [options] */
    async postTask(task, options) {
      const { delay = 0, ...rest } = options ?? {};
      if (delay > 0) await new Promise((resolve) => replaced.setTimeout(resolve, delay));
      return apply(postTask, this, [task, rest]);
    },
  });

  const guarded = (/** @type {() => void} */ run) => {
    try {
      run();
    } catch (error) {
      native.reportError(error);
    }
  };

  /** @param {Map<number, unknown>} asked by ids that grow; those that come meanwhile are for the next time */
  const lastOf = (asked) => {
    let last = 0;
    asked.forEach((_, id) => {
      last = max(last, id);
    });
    return last;
  };
  const runIdles = () => {
    const last = lastOf(idles);
    idles.forEach((callback, id) => {
      if (id > last) return;
      replaced.cancelIdleCallback(id);
      guarded(() => callback({ didTimeout: false, timeRemaining: () => 10 }));
    });
  };
  const runFrame = () => {
    frameTime = max(frameTime, now());
    const last = lastOf(frames);
    frames.forEach((callback, id) => {
      if (id > last) return;
      // The page's own one, such as that of zone.js, would take its callback back.
      replaced.cancelAnimationFrame(id);
      guarded(() => callback(frameTime));
    });
  };
  /** @returns {{ id: number, timer: Timer } | undefined} */
  const earliest = () => {
    /** @type {{ id: number, timer: Timer } | undefined} */
    let found;
    timers.forEach((timer, id) => {
      if (!timer.draws) return;
      if (found === undefined || timer.due < found.timer.due) found = { id, timer };
    });
    return found;
  };

  const { port1, port2 } = new MessageChannel();
  const post = port2.postMessage.bind(port2);
  /** The task that is next; each is one of its own, so that what was promised or sent comes in between. */
  /** @type {(() => void) | undefined} */
  let next;
  port1.addEventListener('message', () => next?.());
  port1.start();
  /** @type {(task: () => void) => void} */
  const soon = (task) => {
    next = task;
    post(0);
  };

  let running = false;
  // A page that sends its reader on after some seconds is printed, rather than the next one.
  window.navigation.addEventListener('navigate', (event) => {
    const leaves = !event.hashChange && !event.destination.sameDocument;
    if (running && leaves && ranAhead() > MOVES_ON_MS) event.preventDefault();
  });

  /**
   * @typedef {{ by: number, frameEvery: number, within: number, isLast: boolean }} Order milliseconds: of the page's time,
   *   between two frames, of real time
   */
  /** @param {Order} order @param {() => void} done */
  const runAhead = ({ by, frameEvery, within, isLast }, done) => {
    const end = now() + by;
    const stopAt = realNow() + within;
    let frameAt = min(end, now() + frameEvery);
    const finish = () => {
      running = false;
      // What an interval without an end turns on and off stands as it began.
      timers.forEach(({ draws, once, calls, run }) => {
        if (isLast && draws && !once && calls % 2 === 1) guarded(run);
      });
      done();
    };
    const step = () => {
      if (realNow() > stopAt) {
        finish();
        return;
      }
      running = true;
      const first = earliest();
      const until = frames.size + idles.size > 0 ? frameAt : end;
      if (first !== undefined && first.timer.due <= until) {
        const { id, timer } = first;
        reach(timer.due);
        if (timer.once) apply(native.clearTimeout, window, [id]);
        soon(step);
        timer.run();
        return;
      }
      reach(until);
      if (idles.size > 0) runIdles();
      if (frames.size > 0) runFrame();
      if (until >= end) soon(finish);
      else {
        frameAt = min(end, until + frameEvery);
        soon(step);
      }
    };
    soon(step);
  };

  const state = () => {
    const time = now();
    let timer = 1e9;
    let delay = 0;
    timers.forEach((each) => {
      if (each.draws) timer = min(timer, max(0, each.due - time));
      if (each.once && each.level <= 2) delay = max(delay, each.due - time);
    });
    return {
      // An object with a prototype could have a toJSON of the page's.
      __proto__: null,
      ...seen,
      scripts: apply(/** @type {() => HTMLCollection} */ (scriptsOf), window.document, []).length,
      frames: frames.size,
      idles: idles.size,
      timer,
      delay,
    };
  };

  performance.addEventListener(channel, (event) => {
    event.preventDefault();
    const { detail: asked } = /** @type {CustomEvent<string | null>} */ (event);
    if (asked === null) return;
    const { id, order, begins } = parse(asked);
    if (begins) {
      begin();
      return;
    }
    const tell = () => {
      const detail = stringify({ __proto__: null, id, state: state() });
      native.answer(new native.CustomEvent(`${channel}-answer`, { detail }));
    };
    if (order === null) tell();
    else runAhead(order, tell);
  });
}
