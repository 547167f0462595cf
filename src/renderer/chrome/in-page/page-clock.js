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
 */
function startPageClock(channel) {
  const { apply, construct, get } = Reflect;
  const { assign, defineProperty, getOwnPropertyDescriptor } = Object;
  const { parse, stringify } = JSON;
  const { min, max, round } = Math;
  const { performance, CustomEvent } = window;
  // The first document of a frame may share its window with the next one, and with it this clock.
  if (!performance.dispatchEvent(new CustomEvent(channel, { cancelable: true }))) return;
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
  count(EventTarget.prototype, 'addEventListener', (type) => {
    if (type === 'scroll' || type === 'resize') seen.hears += 1;
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
  /** No timer is further off. */
  const NEVER_MS = 1e9;

  // Old libraries replace methods of arrays and maps by others of the same name.
  const { get: read, set, delete: remove, forEach } = Map.prototype;
  const newMap = () => assign(new Map(), { get: read, set, delete: remove, forEach });
  let running = false;
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

  /** @typedef {{ draws: boolean, alone: boolean, once: boolean, due: number, calls: number, run: () => void }} Timer */
  // Real time calls each timer by its native one; running ahead calls it earlier.
  /** @type {Map<number, Timer>} */
  const timers = newMap();
  /** @param {'Timeout' | 'Interval'} kind */
  const replaceTimers = (kind) => {
    const native = window[`set${kind}`];
    const clear = window[`clear${kind}`];
    const once = kind === 'Timeout';
    const cancel = (/** @type {unknown} */ id) => {
      timers.delete(Number(id));
      apply(clear, window, [id]);
    };
    assign(window, {
      /** @param {unknown} handler @param {unknown} [delay] @param {unknown[]} values */
      [`set${kind}`](handler, delay, ...values) {
        const ms = max(0, Number(delay) | 0);
        // A text is code that the page's own policy may forbid: it stays Chrome's.
        if (typeof handler !== 'function') return apply(native, window, [handler, ms]);
        const period = once && !running ? ms : max(ms, NESTED_MS);
        const run = () => {
          // It may come before its time.
          if (once) cancel(id);
          timer.due = now() + period;
          timer.calls += 1;
          apply(handler, window, values);
        };
        const draws = once ? isOfRow(ms) : ms < LONGEST_MS;
        const timer = { draws, alone: once && !running, once, due: now() + period, calls: 0, run };
        /** @type {number} */
        const id = apply(native, window, [run, ms]);
        timers.set(id, timer);
        return id;
      },
      [`clear${kind}`]: cancel,
    });
  };
  replaceTimers('Timeout');
  replaceTimers('Interval');
  const { setTimeout: setPageTimeout } = window;
  const { postTask } = Scheduler.prototype;
  assign(Scheduler.prototype, {
    /** @param {unknown} task @param {{ delay?: number } | null} [options] */
    async postTask(task, options) {
      const { delay = 0, ...rest } = options ?? {};
      if (delay > 0) await new Promise((resolve) => setPageTimeout(resolve, delay));
      return apply(postTask, this, [task, rest]);
    },
  });

  const guarded = (/** @type {() => void} */ run) => {
    try {
      run();
    } catch (error) {
      reportError(error);
    }
  };
  /** @type {(name: string, cancelName: string, valueOf: (given: any) => unknown) => { asked: Map<number, Function>, run: (value: unknown) => void }} */
  const replaceCallbacks = (name, cancelName, valueOf) => {
    const native = get(window, name);
    const nativeCancel = get(window, cancelName);
    const asked = newMap();
    const cancel = (/** @type {unknown} */ id) => {
      asked.delete(Number(id));
      apply(nativeCancel, window, [id]);
    };
    assign(window, {
      /** @param {unknown} callback @param {unknown} [options] */
      [name](callback, options) {
        if (typeof callback !== 'function') return apply(native, window, [callback]);
        const run = (/** @type {unknown} */ given) => {
          asked.delete(id);
          callback(valueOf(given));
        };
        /** @type {number} */
        const id = apply(native, window, [run, options]);
        asked.set(id, callback);
        return id;
      },
      [cancelName]: (/** @type {unknown} */ id) => cancel(id),
    });
    /** Calls those that were asked for; what comes meanwhile is for the next time. */
    const run = (/** @type {unknown} */ value) => {
      let last = 0;
      asked.forEach((/** @type {Function} */ _, /** @type {number} */ id) => {
        last = max(last, id);
      });
      asked.forEach((/** @type {Function} */ callback, /** @type {number} */ id) => {
        if (id > last) return;
        // The page's own way, such as that of zone.js, would take its callback back.
        cancel(id);
        guarded(() => callback(value));
      });
    };
    return { asked, run };
  };
  let frameTime = 0;
  const timeOfFrame = (/** @type {number} */ time) => (frameTime = max(frameTime, time));
  const frames = replaceCallbacks('requestAnimationFrame', 'cancelAnimationFrame', (time) =>
    timeOfFrame(time + ahead),
  );
  const idles = replaceCallbacks('requestIdleCallback', 'cancelIdleCallback', (given) => given);

  const { port1, port2 } = new MessageChannel();
  const post = port2.postMessage.bind(port2);
  /** The task that is next; each is one of its own, so that what was promised or sent comes in between. */
  /** @type {(() => void) | undefined} */
  let next;
  port1.addEventListener('message', () => next?.());
  port1.start();
  /** @param {() => void} task */
  const soon = (task) => {
    next = task;
    post(0);
  };

  // A page that sends its reader on after some seconds is printed, rather than the next one.
  window.navigation.addEventListener('navigate', (event) => {
    const leaves = !event.hashChange && !event.destination.sameDocument;
    if (running && leaves && begun + ahead > MOVES_ON_MS) event.preventDefault();
  });

  /**
   * @param {{ by: number, frameEvery: number, within: number, isLast: boolean }} order milliseconds: of the page's time,
   *   between two frames, of real time
   * @param {() => void} done
   */
  const runAhead = ({ by, frameEvery, within, isLast }, done) => {
    const end = now() + by;
    const stopAt = realNow() + within;
    let frameAt = min(end, now() + frameEvery);
    /** @param {number} time by the page's clock, which goes there unless it is past it */
    const reach = (time) => {
      ahead += max(0, time - now());
    };
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
      let id = 0;
      let due = NEVER_MS;
      timers.forEach((timer, each) => {
        if (!timer.draws || timer.due >= due) return;
        id = each;
        due = timer.due;
      });
      const until = frames.asked.size + idles.asked.size > 0 ? frameAt : end;
      reach(min(due, until));
      if (due <= until) {
        soon(step);
        timers.get(id)?.run();
        return;
      }
      idles.run({ didTimeout: false, timeRemaining: () => 10 });
      frames.run(timeOfFrame(now()));
      frameAt = min(end, until + frameEvery);
      soon(until < end ? step : finish);
    };
    soon(step);
  };

  const state = () => {
    const time = now();
    let timer = idles.asked.size > 0 ? 0 : NEVER_MS;
    let late = 0;
    timers.forEach(({ draws, alone, due }) => {
      if (draws) timer = min(timer, max(0, due - time));
      if (alone) late = max(late, due - time);
    });
    return {
      // An object with a prototype could have a toJSON of the page's.
      __proto__: null,
      ...seen,
      ...((window.onscroll ?? window.onresize ?? document.onscroll) && { hears: 1 }),
      frames: frames.asked.size,
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
