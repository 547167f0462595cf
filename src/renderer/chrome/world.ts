/**
 * Questions to the page, asked in a world that its scripts cannot reach: there, what a page did to
 * Promise, Object.prototype or requestAnimationFrame does not exist.
 */
import type { Tab } from './tab.ts';

/** @returns the value, by JSON; undefined where the document went away meanwhile or it threw */
export async function ask<T>(tab: Tab, expression: string): Promise<T | undefined> {
  const { executionContextId } = await tab.send('Page.createIsolatedWorld', {
    frameId: tab.frameId,
    worldName: 'pressledger',
  });
  const { result, exceptionDetails } = await tab.send('Runtime.evaluate', {
    expression,
    contextId: executionContextId,
    awaitPromise: true,
    returnByValue: true,
  });
  return exceptionDetails === undefined ? (result.value as T) : undefined;
}
