/** One route: what serves it and what is documented of it are said in one place. */
import type { HttpMiddleware } from './context.ts';
import type { OperationDoc } from './openapi/operation.ts';

/**
 * Who may ask, and whose requests are counted. `caller`: a key or access token, counted for its
 * account; `address`: anybody, counted for the client's address; `link`: who holds the signed link;
 * `none`: anybody, not counted.
 */
export type Auth = 'caller' | 'address' | 'link' | 'none';

export interface Route<Dependencies> {
  readonly method: 'get' | 'post' | 'delete';
  /** The whole path, parameters in braces. */
  readonly path: string;
  readonly auth: Auth;
  readonly handler: (deps: Dependencies) => HttpMiddleware;
  readonly doc: OperationDoc;
}
