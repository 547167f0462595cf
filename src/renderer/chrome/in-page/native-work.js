/* oxlint-disable typescript/unbound-method, no-unused-vars, unicorn/consistent-function-scoping -- methods get their object later; the reader of this text calls it, once in a world */
/**
 * Counts the work that scripts gave to Chrome and that it does off their thread, such as decoding, hashing and reading.
 * While some is under way, more is to come of a page whose scripts rest. This runs in each frame and worker before its
 * scripts.
 *
 * @returns {{ works: number, pictures: number }} what is under way. Chrome makes pictures in idle moments, of which it has
 *   some only when it draws
 */
function countNativeWork() {
  const { apply, get, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const { assign } = Object;
  const { addEventListener } = EventTarget.prototype;
  const world = /** @type {any} */ (globalThis);
  const counts = { works: 0, pictures: 0 };

  /**
   * Replaces methods of an object, if it has them.
   * @param {any} of
   * @param {readonly PropertyKey[]} names
   * @param {(method: Function) => Function} replaced
   */
  const replace = (of, names, replaced) => {
    for (const name of names) {
      const method = of?.[name];
      if (typeof method === 'function') assign(of, { [name]: replaced(method) });
    }
  };
  /**
   * Counts until the promise of a method settles. The page gets a promise whose rejection is still its own to handle.
   * @param {keyof typeof counts} kind
   * @param {(self: any) => boolean} [isWork]
   */
  const untilSettled =
    (kind, isWork = () => true) =>
    (/** @type {Function} */ method) =>
      ({
        /** @param {unknown[]} values */
        async replaced(...values) {
          if (!isWork(this)) return apply(method, this, values);
          counts[kind] += 1;
          try {
            return await apply(method, this, values);
          } finally {
            counts[kind] -= 1;
          }
        },
      }).replaced;
  /**
   * Counts until one of these events comes at what a method returns.
   * @param {readonly string[]} types
   * @param {(self: EventTarget, returned: EventTarget) => EventTarget} targetOf
   */
  const untilEvent = (types, targetOf) => (/** @type {Function} */ method) =>
    /** @this {EventTarget} @param {unknown[]} values */
    function (...values) {
      const returned = apply(method, this, values);
      let isOver = false;
      const end = () => {
        if (!isOver) counts.works -= 1;
        isOver = true;
      };
      counts.works += 1;
      const target = targetOf(this, returned);
      for (const type of types) apply(addEventListener, target, [type, end, { once: true }]);
      return returned;
    };
  const ofReturned = (/** @type {EventTarget} */ _, /** @type {EventTarget} */ returned) =>
    returned;

  const body = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'];
  /** @type {Readonly<Record<string, readonly string[]>>} */
  const promises = {
    Blob: ['arrayBuffer', 'bytes', 'text'],
    Request: body,
    Response: body,
    ReadableStream: ['pipeTo'],
    ReadableStreamDefaultReader: ['read'],
    ReadableStreamBYOBReader: ['read'],
    ImageDecoder: ['decode'],
    VideoDecoder: ['flush'],
    VideoEncoder: ['flush'],
    AudioDecoder: ['flush'],
    AudioEncoder: ['flush'],
    BaseAudioContext: ['decodeAudioData'],
    OfflineAudioContext: ['startRendering'],
    StorageManager: ['getDirectory', 'estimate'],
    FileSystemDirectoryHandle: ['getDirectoryHandle', 'getFileHandle', 'removeEntry', 'resolve'],
    FileSystemFileHandle: ['createSyncAccessHandle', 'createWritable', 'getFile'],
    FileSystemWritableFileStream: ['close', 'seek', 'truncate', 'write'],
  };
  for (const name of ownKeys(promises)) {
    replace(world[name]?.prototype, get(promises, name), untilSettled('works'));
  }
  // Each of their methods is asynchronous.
  for (const name of ['SubtleCrypto', 'Cache', 'CacheStorage', 'CookieStore']) {
    const prototype = world[name]?.prototype;
    const names = ownKeys(prototype ?? {}).filter(
      (each) =>
        each !== 'constructor' &&
        typeof getOwnPropertyDescriptor(prototype, each)?.value === 'function',
    );
    replace(prototype, names, untilSettled('works'));
  }
  const wasm = ['compile', 'compileStreaming', 'instantiate', 'instantiateStreaming'];
  replace(world.WebAssembly, wasm, untilSettled('works'));
  replace(world, ['createImageBitmap'], untilSettled('works'));
  replace(getPrototypeOf(new ReadableStream().values()), ['next'], untilSettled('works'));

  replace(world.OffscreenCanvas?.prototype, ['convertToBlob'], untilSettled('pictures'));
  // One that is loaded when it comes into view is decoded then.
  const isComing = (/** @type {HTMLImageElement} */ image) =>
    image.complete || image.loading !== 'lazy';
  replace(world.HTMLImageElement?.prototype, ['decode'], untilSettled('pictures', isComing));
  replace(
    world.HTMLCanvasElement?.prototype,
    ['toBlob'],
    (toBlob) =>
      /** @this {HTMLCanvasElement} @param {unknown} callback @param {unknown[]} values */
      function (callback, ...values) {
        const made = (/** @type {Blob | null} */ blob) => {
          counts.pictures -= 1;
          apply(/** @type {Function} */ (callback), undefined, [blob]);
        };
        apply(toBlob, this, [typeof callback === 'function' ? made : callback, ...values]);
        counts.pictures += 1;
      },
  );

  const reads = ['readAsArrayBuffer', 'readAsBinaryString', 'readAsDataURL', 'readAsText'];
  replace(
    world.FileReader?.prototype,
    reads,
    untilEvent(['load', 'error', 'abort'], (self) => self),
  );
  replace(
    world.IDBFactory?.prototype,
    ['open', 'deleteDatabase'],
    untilEvent(['success', 'error', 'blocked'], ofReturned),
  );
  replace(
    world.IDBDatabase?.prototype,
    ['transaction'],
    untilEvent(['complete', 'abort'], ofReturned),
  );
  return counts;
}
