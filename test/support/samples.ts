/** Well-formed values for tests that care about something else. */
import type { BlobRef, PdfDigest, PrintOptions, RenderTimings } from '../../src/domain/events.ts';

const id = (prefix: string, last: string): string => `${prefix}_${last.padStart(26, '0')}`;
export const accountId = (n = 1): string => id('acct', `${n}`);
export const conversionId = (n = 1): string => id('conv', `${n}`);
export const keyId = (n = 1): string => id('key', `${n}`);
export const sessionId = (n = 1): string => id('sess', `${n}`);
export const sha256 = (n = 1): string => n.toString(16).padStart(64, '0');

/** The log's name, as a first start makes it. */
export const ORIGIN = 'pressledger/0123456789abcdef';

export const NOW = Date.UTC(2026, 10, 21, 12, 30);
export const HOUR_MS = 60 * 60 * 1000;
/** How long an idempotency key holds, by the interface. */
export const DAY_MS = 24 * HOUR_MS;

export function blobRef(kind: 'request' | 'document' | 'manifest', n = 1): BlobRef {
  return {
    key: `${conversionId(n)}/${kind}-${sha256(n)}`,
    sha256: sha256(n),
    bytes: 10 * n,
  };
}

export const PDF: PdfDigest = { sha256: sha256(70), bytes: 10 };
export const REQUEST_HMAC = sha256(80);
export const CONTENT_KEY = Buffer.alloc(32, 5);

export const OPTIONS: PrintOptions = {
  page_size: 'A4',
  landscape: false,
  margin_top: '1cm',
  margin_right: '1cm',
  margin_bottom: '1cm',
  margin_left: '1cm',
  print_background: false,
  scale: 1,
  prefer_css_page_size: false,
  media: 'print',
  tagged: true,
  outline: false,
  javascript: true,
};

export const TIMINGS: RenderTimings = { queued: 1, load: 2, ready: 3, print: 4, store: 5 };
