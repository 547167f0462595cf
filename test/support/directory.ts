/** A directory of a test's own, removed when nothing of the test writes to it any more. */
import type { Test } from 'tap';

/**
 * Makes `t.testdir()` after a first teardown: tap then removes the directory when all teardowns have run.
 * In the other order it removes the directory first, while a Chrome or a store still writes to it.
 * @param content files by their names; an object is a folder
 * @returns the absolute path
 */
export function testDirectory(t: Test, content: Parameters<Test['testdir']>[0] = {}): string {
  t.teardown(() => {});
  return t.testdir(content);
}
