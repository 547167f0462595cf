/* oxlint-disable typescript/unbound-method, no-unused-vars -- methods get their object later; the reader of this text calls it */
/**
 * Makes all that a script learns of time and chance the same each time: its clock stands at a given moment, and random
 * numbers follow from a seed. This runs in each frame and worker of a deterministic document, before its scripts. In a
 * frame `page-clock.js`, which runs after it, lets the clock run ahead: there alone time passes.
 *
 * @param {number} time the moment, in milliseconds since the epoch
 * @param {readonly number[]} seed four whole numbers of 32 bits
 */
function startFixedWorld(time, seed) {
  const { apply, construct, get, ownKeys } = Reflect;
  const { assign, defineProperty, getOwnPropertyDescriptor } = Object;
  const { floor, imul, max } = Math;
  const world = /** @type {any} */ (globalThis);
  const { performance, Performance } = world;
  const realNow = performance.now.bind(performance);

  /**
   * A script that waits in a loop for time to pass must come to its end. Beyond so many looks at the clock within one turn,
   * each look takes a millisecond.
   */
  const LOOKS = 5_000;
  let looks = 0;
  let waited = 0;
  const { postTask } = world.Scheduler.prototype;
  const endTurn = () => {
    looks = 0;
  };
  /** Milliseconds since the document began. */
  const passed = () => {
    if (looks === 0) apply(postTask, world.scheduler, [endTurn]);
    looks += 1;
    if (looks > LOOKS) waited += 1;
    return waited;
  };

  /** @type {(prototype: object | undefined, name: string, value: () => unknown) => void} */
  const replaceGetter = (prototype, name, value) => {
    const own = prototype && getOwnPropertyDescriptor(prototype, name);
    if (own?.get !== undefined) defineProperty(prototype, name, { ...own, get: value });
  };
  assign(Performance.prototype, { now: () => passed() });
  replaceGetter(Performance.prototype, 'timeOrigin', () => time);
  for (const name of ['startTime', 'duration']) {
    replaceGetter(world.PerformanceEntry?.prototype, name, () => 0);
  }
  const timing = world.PerformanceTiming?.prototype;
  for (const name of ownKeys(timing ?? {})) replaceGetter(timing, String(name), () => time);
  replaceGetter(world.Event.prototype, 'timeStamp', () => performance.now());

  const NativeDate = Date;
  assign(NativeDate, { now: () => time + passed() });
  const PageDate = new Proxy(NativeDate, {
    construct: (target, values, made) =>
      construct(target, values.length === 0 ? [target.now()] : values, made),
    apply: () => new PageDate().toString(),
  });
  NativeDate.prototype.constructor = PageDate;
  world.Date = PageDate;
  const now = () => NativeDate.now();

  const formatter = Intl.DateTimeFormat.prototype;
  const format = getOwnPropertyDescriptor(formatter, 'format')?.get;
  replaceGetter(
    formatter,
    'format',
    /** @this {Intl.DateTimeFormat} */ function () {
      const native = apply(/** @type {() => Function} */ (format), this, []);
      return (/** @type {unknown} */ date) => native(date === undefined ? now() : date);
    },
  );
  const { formatToParts } = formatter;
  assign(formatter, {
    /** @this {Intl.DateTimeFormat} @param {Date} [date] */
    formatToParts(date) {
      return apply(formatToParts, this, [date === undefined ? now() : date]);
    },
  });
  const { Temporal } = world;
  if (Temporal !== undefined) {
    const { Instant, Now } = Temporal;
    const { timeZoneId } = Now;
    const instant = () => Instant.fromEpochMilliseconds(floor(now()));
    const zoned = (zone = timeZoneId()) => instant().toZonedDateTimeISO(zone);
    assign(Now, {
      instant,
      zonedDateTimeISO: zoned,
      plainDateTimeISO: (/** @type {any} */ zone) => zoned(zone).toPlainDateTime(),
      plainDateISO: (/** @type {any} */ zone) => zoned(zone).toPlainDate(),
      plainTimeISO: (/** @type {any} */ zone) => zoned(zone).toPlainTime(),
    });
  }

  // sfc32, by Chris Doty-Humphrey. It passes the usual tests, and is fast.
  let [a = 0, b = 0, c = 0, d = 0] = seed;
  const bits = () => {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
  // A worker and a frame with a name of its own have numbers of their own.
  const name = `${world.name ?? ''}`;
  for (let at = 0; at < name.length; at += 1) a = imul(a ^ name.charCodeAt(at), 0x01000193);
  for (let times = 0; times < 16; times += 1) bits();
  assign(Math, { random: () => ((bits() >>> 5) * 2 ** 26 + (bits() >>> 6)) / 2 ** 53 });
  const { Crypto } = world;
  const { getRandomValues } = Crypto.prototype;
  const NativeBytes = Uint8Array;
  /** @param {Uint8Array} bytes */
  const fill = (bytes) => {
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = bits() & 0xff;
  };
  assign(Crypto.prototype, {
    /** @this {Crypto} @param {any} array */
    getRandomValues(array) {
      // It refuses what is not to be filled.
      const filled = apply(getRandomValues, this, [array]);
      fill(new NativeBytes(filled.buffer, filled.byteOffset, filled.byteLength));
      return filled;
    },
  });
  if (Crypto.prototype.randomUUID !== undefined) {
    assign(Crypto.prototype, {
      randomUUID() {
        const bytes = new NativeBytes(16);
        fill(bytes);
        bytes[6] = (Number(bytes[6]) & 0x0f) | 0x40;
        bytes[8] = (Number(bytes[8]) & 0x3f) | 0x80;
        const hex = Array.from(bytes, (each) => each.toString(16).padStart(2, '0')).join('');
        return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
      },
    });
  }

  const { document } = world;
  if (document === undefined) return;
  // A server's date of its document stays. Without one Chrome gives the present, as it does for a document of no server: both
  // in the zone of the machine, which may not be the page's.
  const modified = getOwnPropertyDescriptor(world.Document.prototype, 'lastModified')?.get;
  const dateless = document.implementation.createHTMLDocument('');
  const modifiedOf = (/** @type {Document} */ of) =>
    apply(/** @type {() => string} */ (modified), of, []);
  replaceGetter(
    world.Document.prototype,
    'lastModified',
    /** @this {Document} */ function () {
      const told = modifiedOf(this);
      const age = NativeDate.parse(modifiedOf(dateless)) - NativeDate.parse(told);
      if (age > realNow() + 1_000) return told;
      const [date = '', clock = ''] = new PageDate(time).toLocaleString('sv').split(' ');
      const [year, month, day] = date.split('-');
      return `${month}/${day}/${year} ${clock}`;
    },
  );
  // Nothing comes by itself: the page's clock makes each call when it runs ahead. Chrome's own ids stay below these.
  let id = 1_000_000_000;
  for (const each of ['setTimeout', 'setInterval', 'requestAnimationFrame']) {
    const native = get(world, each);
    world[each] = (/** @type {unknown[]} */ ...values) => {
      if (typeof values[0] !== 'function') return apply(native, world, values);
      id += 1;
      return id;
    };
  }
}
