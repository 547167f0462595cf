/** What `pressledger/client` exports. Nothing in this repository imports it. */
export { type CallOptions, type ClientOptions, PressledgerClient } from './client.ts';
export {
  type ErrorCode,
  type ErrorDetails,
  isPressledgerError,
  PressledgerError,
  PressledgerUnreachable,
} from './errors.ts';
export type { Page, PageQuery } from './pages.ts';
export type * from './types.ts';
