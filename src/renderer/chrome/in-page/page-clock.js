/* oxlint-disable typescript/unbound-method, no-unused-vars -- methods get their object later; the reader of this text calls it */
/**
 * The clock of a page, by which its timers, frames and dates go. It runs as real time does until it is told
 * to run ahead: then the timers that are due and the frames that were asked for come at once, in their order,
 * and every way to ask for the time agrees with them.
 *
 * This runs in each document before the scripts of the page, in their world. It takes the functions that it
 * needs before the page can replace them. Requests and answers are events at `performance`, the one target
 * that the worlds of a document share and that `document.open` leaves alone.
 *
 * @param {string} channel the name of these events
 * @param {() => object} countNativeWork
 * @param {() => void} [fix] makes time stand still but for what runs ahead
 */
function startPageClock(channel, countNativeWork, fix) {
  const { apply, construct, get } = Reflect;
  const { assign, defineProperty, getOwnPropertyDescriptor } = Object;
  const { parse, stringify } = JSON;
  const { min, max, round } = Math;
  const { performance, CustomEvent } = window;
  // The first document of a frame may share its window with the next one, and with it this clock.
  if (!performance.dispatchEvent(new CustomEvent(channel, { cancelable: true }))) return;
  const elapsed = performance.now.bind(performance);
  fix?.();
  const underWay = countNativeWork();
  const answer = performance.dispatchEvent.bind(performance);
  const reportError = window.reportError.bind(window);
  const queueMicrotask = window.queueMicrotask.bind(window);

  /** The time of the window's own clock at which the document began: above 0 where it was written into a window. */
  let begun = 0;
  /** Milliseconds by which the page's clock is ahead of the window's own. */
  let ahead = 0;
  const nativeNow = Performance.prototype.now;
  const realNow = () => apply(nativeNow, performance, []);
  const now = () => realNow() + ahead;
  const NativeDate = Date;
  const nativeDateNow = NativeDate.now;
  const dateNow = () => apply(nativeDateNow, NativeDate, []) + round(begun + ahead);
  const timeOrigin = getOwnPropertyDescriptor(Performance.prototype, 'timeOrigin')?.get;
  assign(Performance.prototype, {
    now() {
      return apply(nativeNow, this, []) + ahead;
    },
  });
  defineProperty(Performance.prototype, 'timeOrigin', {
    get() {
      return apply(/** @type {() => number} */ (timeOrigin), this, []) + begun;
    },
    enumerable: true,
    configurable: true,
  });
  assign(NativeDate, { now: () => dateNow() });
  // A page may set a `Date.now` of its own, which makes a date.
  const PageDate = new Proxy(NativeDate, {
    construct: (target, values, made) =>
      construct(target, values.length === 0 ? [dateNow()] : values, made),
    apply: () => new PageDate().toString(),
  });
  NativeDate.prototype.constructor = PageDate;
  window.Date = PageDate;

  // A tab cannot be moved or sized by its page, but the window of a Chrome without tabs can. Whether its page then hears of
  // it would depend on the documents before.
  for (const name of ['moveTo', 'moveBy', 'resizeTo', 'resizeBy']) assign(window, { [name]() {} });

  // A Chrome without windows would turn the screens of all its tabs, also those of other accounts. One with windows refuses.
  const refused = 'screen.orientation.lock() is not available on this device.';
  assign(ScreenOrientation.prototype, {
    lock: () => Promise.reject(new DOMException(refused, 'NotSupportedError')),
  });

  /** How often the page asked for what only a drawn frame tells, and for news of the window's height. */
  const seen = { watches: 0, hears: 0, asksPrint: false };
  /** @type {(prototype: object, name: string, note?: (value: unknown) => void) => void} */
  const count = (prototype, name, note = () => (seen.watches += 1)) => {
    const method = get(prototype, name);
    if (typeof method !== 'function') return;
    assign(prototype, {
      /** @param {unknown[]} values */
      [name](...values) {
        note(values[0]);
        return apply(method, this, values);
      },
    });
  };
  count(IntersectionObserver.prototype, 'observe');
  count(ResizeObserver.prototype, 'observe');
  count(HTMLCanvasElement.prototype, 'transferControlToOffscreen');
  count(Document.prototype, 'startViewTransition');
  count(window, 'matchMedia', (query) => {
    seen.watches += 1;
    if (/print/i.test(String(query))) seen.asksPrint = true;
  });
  // All that a frame tells listeners, but for the ends of animations: those are looked for.
  const told = /^(?:scroll|resize|focus|pagereveal$|contentvisibility)/;
  count(EventTarget.prototype, 'addEventListener', (type) => {
    if (told.test(String(type))) seen.hears += 1;
  });

  /**
   * A timer that is set for longer does not draw: it takes a message away, moves a slider on or ends a session. It is left to
   * real time. So is an interval of this length, which counts seconds.
   */
  const LONGEST_MS = 1_000;
  /** Timers that one turn of a script sets in steps of at most this draw one after another, however many they are. */
  const ROW_STEP_MS = 500;
  /** Browsers let intervals, and timers that others led to, wait this long at least. */
  const NESTED_MS = 4;
  /** Milliseconds after which a page that runs ahead may not move on to another one any more. */
  const MOVES_ON_MS = 1_000;
  /** The length of an idle moment. */
  const IDLE_MS = 10;
  /** No timer is further off. */
  const NEVER_MS = 1e9;

  const guarded = (/** @type {() => void} */ run) => {
    try {
      run();
    } catch (error) {
      reportError(error);
    }
  };
  /**
   * @typedef {object} Call
   * @property {(given?: any) => void} run
   * @property {number} due by the page's clock
   * @property {boolean} [draws]
   * @property {boolean} [alone] not set by another one
   * @property {boolean} [odd] of an interval: called an odd number of times
   */
  // Old libraries replace methods of arrays and maps by others of the same name.
  const { get: read, set, delete: remove, forEach } = Map.prototype;
  /** @returns {Map<number, Call>} */
  const newCalls = () => assign(new Map(), { get: read, set, delete: remove, forEach });
  /**
   * Replaces a function by which a page asks for a call, and the one that takes it back. Real time makes each call by the
   * native one; running ahead makes it earlier.
   * @param {[name: string, cancelName: string]} names
   * @param {Map<number, Call>} calls those that are to come, by their ids
   * @param {(handler: Function, option: unknown, values: unknown[]) => Call} callOf
   */
  const replace = ([name, cancelName], calls, callOf) => {
    const native = get(window, name);
    const nativeCancel = get(window, cancelName);
    const cancel = (/** @type {unknown} */ id) => {
      calls.delete(Number(id));
      apply(nativeCancel, window, [id]);
    };
    assign(window, {
      /** @param {unknown} handler @param {unknown} [option] @param {unknown[]} values */
      [name](handler, option, ...values) {
        // A text is code that the page's own policy may forbid: it stays Chrome's.
        if (typeof handler !== 'function') return apply(native, window, [handler, option]);
        const call = callOf(handler, option, values);
        const { run } = call;
        call.run = (given) => {
          if (call.odd === undefined) cancel(id);
          run(given);
        };
        /** @type {number} */
        const id = apply(native, window, [call.run, option]);
        calls.set(id, call);
        return id;
      },
      [cancelName]: (/** @type {unknown} */ id) => cancel(id),
    });
  };
  let running = false;
  /** True once it runs ahead no more. Real time goes on until all is there, and would turn on and off what stands still. */
  let isOver = false;
  /** The milliseconds of the last timer that draws and that this turn of a script set; 0 without one. */
  let row = 0;
  const endRow = () => {
    row = 0;
  };
  /** @param {number} ms */
  const isOfRow = (ms) => {
    if (ms > LONGEST_MS && (row === 0 || ms - row > ROW_STEP_MS)) return false;
    if (row === 0) queueMicrotask(endRow);
    row = max(row, ms, 1);
    return true;
  };
  const timers = newCalls();
  replace(['setTimeout', 'clearTimeout'], timers, (handler, delay, values) => {
    const ms = max(0, Number(delay) | 0);
    const due = now() + (running ? max(ms, NESTED_MS) : ms);
    const run = () => apply(handler, window, values);
    return { run, due, draws: isOfRow(ms), alone: !running };
  });
  replace(['setInterval', 'clearInterval'], timers, (handler, delay, values) => {
    const ms = max(NESTED_MS, Number(delay) | 0);
    const run = () => {
      if (isOver && timer.draws && !running) return;
      timer.due = now() + ms;
      timer.odd = !timer.odd;
      apply(handler, window, values);
    };
    const timer = { run, due: now() + ms, draws: ms < LONGEST_MS, odd: false };
    return timer;
  });
  const { setTimeout, clearTimeout, scheduler } = window;
  assign(window, {
    /** @param {(deadline: object) => void} callback */
    requestIdleCallback: (callback) =>
      setTimeout(() => {
        const end = now() + IDLE_MS;
        callback({ didTimeout: false, timeRemaining: () => max(0, end - now()) });
      }, 1),
    cancelIdleCallback: (/** @type {number} */ id) => clearTimeout(id),
  });
  const { postTask } = Scheduler.prototype;
  /** Each step is a task of its own, so that what was promised or sent comes in between. */
  const soon = (/** @type {() => void} */ step) => void apply(postTask, scheduler, [step]);
  assign(Scheduler.prototype, {
    /** @param {unknown} task @param {{ delay?: number } | null} [options] */
    async postTask(task, options) {
      const { delay = 0, ...rest } = options ?? {};
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
      return apply(postTask, this, [task, rest]);
    },
  });
  const frames = newCalls();
  /** Makes the calls that were asked for; what they ask for comes with the next frame. */
  const runFrame = () => {
    let last = 0;
    frames.forEach((_, id) => {
      last = id;
    });
    frames.forEach(({ run }, id) => {
      if (id <= last) guarded(() => run(realNow()));
    });
  };
  let frameTime = 0;
  replace(['requestAnimationFrame', 'cancelAnimationFrame'], frames, (handler) => ({
    run: (time) => handler((frameTime = max(frameTime, time + ahead))),
    due: 0,
  }));
  // A page that sends its reader on after some seconds is printed, rather than the next one.
  window.navigation.addEventListener('navigate', (event) => {
    const leaves = !event.hashChange && !event.destination.sameDocument;
    if (running && leaves && begun + ahead > MOVES_ON_MS) event.preventDefault();
  });

  /**
   * @param {{ by: number, frameEvery: number, within: number, isLast: boolean, all?: true }} order milliseconds: of the
   *   page's time, between two frames, of real time; `all`: also timers that are left to real time are called
   * @param {() => void} done
   */
  const runAhead = ({ by, frameEvery, within, isLast, all }, done) => {
    const end = now() + by;
    const stopAt = elapsed() + within;
    let frameAt = min(end, now() + frameEvery);
    /** @param {number} time by the page's clock, which goes there unless it is past it */
    const reach = (time) => {
      ahead += max(0, time - now());
    };
    const finish = () => {
      // What an interval without an end turns on and off stands as it began.
      timers.forEach(({ draws, odd, run }) => {
        if (isLast && draws && odd) guarded(run);
      });
      running = false;
      isOver ||= isLast;
      done();
    };
    const step = () => {
      if (elapsed() > stopAt) {
        finish();
        return;
      }
      running = true;
      let id = 0;
      let due = NEVER_MS;
      timers.forEach((timer, each) => {
        if (!(timer.draws || all) || timer.due >= due) return;
        id = each;
        due = timer.due;
      });
      const until = frames.size > 0 ? frameAt : end;
      reach(min(due, until));
      if (due <= until) {
        guarded(() => timers.get(id)?.run());
        soon(step);
        return;
      }
      runFrame();
      frameAt = min(end, until + frameEvery);
      soon(until < end ? step : finish);
    };
    soon(step);
  };

  const state = () => {
    const time = now();
    let timer = NEVER_MS;
    let late = 0;
    timers.forEach(({ draws, alone, due }) => {
      if (draws) timer = min(timer, max(0, due - time));
      if (alone) late = max(late, due - time);
    });
    return {
      // An object with a prototype could have a toJSON of the page's.
      __proto__: null,
      ...seen,
      ...underWay,
      ...((window.onscroll ?? window.onresize ?? window.onpagereveal ?? document.onscroll) && {
        hears: 1,
      }),
      frames: frames.size,
      timer,
      late,
    };
  };

  performance.addEventListener(channel, (event) => {
    event.preventDefault();
    const { detail } = /** @type {CustomEvent<string | null>} */ (event);
    if (detail === 'begin') {
      begun = realNow();
      ahead = -begun;
    } else if (detail !== null) {
      const order = parse(detail);
      const tell = () =>
        void answer(new CustomEvent(`${channel}-answer`, { detail: stringify(state()) }));
      if (order === null) tell();
      else runAhead(order, tell);
    }
  });
}
