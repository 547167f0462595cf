/**
 * A statement for a document whose lazy images were loaded because their `loading` was changed. Chrome still takes them
 * for images to load when it prints, and waits two seconds for the end of a load that does not come. It finds one more
 * then, which is in no document and ends at once. Its address is always another: what was loaded before is not loaded.
 */
export const END_LAZY_LOADS = `globalThis.lastLazyImage = Object.assign(new Image(), {
    loading: 'lazy',
    src: 'data:image/gif;n=' + Math.random() + ';base64,R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=',
  });`;
