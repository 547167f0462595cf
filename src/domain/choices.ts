/** The values of fields that have a fixed set of them. Schemas, which take a tenth of a second to load, are elsewhere. */

export const PLANS = ['free', 'starter', 'pro'] as const;
export const PAGE_SIZES = ['A4', 'Letter', 'Legal', 'A3', 'A5'] as const;

/** `dashboard`: of a browser, held by a cookie; `api`: of a program, held by a refresh token. */
export const SESSION_KINDS = ['dashboard', 'api'] as const;

export const FAILURE_CODES = [
  'timeout',
  'address_refused',
  'navigation_failed',
  'page_status',
  'not_html',
  'selector_missing',
  'page_range',
  'page_crashed',
  'page_memory',
  'too_large',
  'incomplete',
  'renderer_failed',
  'account_erased',
] as const;
export type ConversionFailureCode = (typeof FAILURE_CODES)[number];
