/** The size, place and orientation of a tab's window, which a page's scripts can change. */
import type { Connection } from './connection.ts';

/** Evaluates to all of them, in one text. */
export const WINDOW_SHAPE =
  '[outerWidth, outerHeight, innerWidth, innerHeight, screenX, screenY, screen.orientation.type].join()';

const newShapes = new WeakMap<Connection, unknown>();

/**
 * `WINDOW_SHAPE` of a new window of a browser. All have the same, and the question costs a world for scripts, so
 * that it is asked once.
 * @param evaluate evaluates an expression in a new window
 */
export async function newWindowShape(
  connection: Connection,
  evaluate: (expression: string) => Promise<unknown>,
): Promise<unknown> {
  if (!newShapes.has(connection)) newShapes.set(connection, await evaluate(WINDOW_SHAPE));
  return newShapes.get(connection);
}
