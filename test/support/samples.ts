/** Well-formed values for tests that care about something else. */
import type { BlobKind } from '../../src/domain/blob-key.ts';
import {
  type BlobRef,
  DEFAULT_OPTIONS,
  type PdfDigest,
  type PrintOptions,
  type RenderTimings,
} from '../../src/domain/event-fields.ts';
import type { RenderManifest } from '../../src/domain/render-manifest.ts';

const id = (prefix: string, last: string): string => `${prefix}_${last.padStart(26, '0')}`;
export const accountId = (n = 1): string => id('acct', `${n}`);
export const conversionId = (n = 1): string => id('conv', `${n}`);
export const batchId = (n = 1): string => id('batch', `${n}`);
export const keyId = (n = 1): string => id('key', `${n}`);
export const linkId = (n = 1): string => id('link', `${n}`);
export const passkeyId = (n = 1): string => id('passkey', `${n}`);
export const personId = (n = 1): string => id('person', `${n}`);
export const sessionId = (n = 1): string => id('sess', `${n}`);
export const templateId = (n = 1): string => id('tmpl', `${n}`);
export const webhookId = (n = 1): string => id('webhook', `${n}`);
export const certificateId = (n = 1): string => id('cert', `${n}`);
export const deliveryId = (n = 1): string => id('delivery', `${n}`);
export const sha256 = (n = 1): string => n.toString(16).padStart(64, '0');

/** The log's name, as a first start makes it. */
export const ORIGIN = 'pressledger/0123456789abcdef';

export const NOW = Date.UTC(2026, 10, 21, 12, 30);
export const HOUR_MS = 60 * 60 * 1000;
/** How long an idempotency key holds, by the interface. */
export const DAY_MS = 24 * HOUR_MS;

export function blobRef(kind: BlobKind, n = 1): BlobRef {
  return {
    key: `${conversionId(n)}/${kind}-${sha256(n)}`,
    sha256: sha256(n),
    bytes: 10 * n,
  };
}

export const PDF: PdfDigest = { sha256: sha256(70), bytes: 10 };
export const REQUEST_HMAC = sha256(80);
export const CONTENT_KEY = Buffer.alloc(32, 5);

export const OPTIONS: PrintOptions = DEFAULT_OPTIONS;

/** The certificate of an account, as its events have it. */
export const SIGNATURE = {
  secret: 'v1.s',
  subject: 'v1.n',
  issuer: 'v1.i',
  notBefore: NOW,
  notAfter: NOW + 30 * DAY_MS,
  certificate: sha256(7),
};

export const TIMINGS: RenderTimings = { queued: 1, load: 2, ready: 3, print: 4, store: 5 };

/** The manifest of a page with one image and one font. */
export const MANIFEST: RenderManifest = {
  version: 1,
  conversion_id: conversionId(),
  renderer: 'test',
  attempt: 1,
  request: { sha256: sha256(1), bytes: 10 },
  options: OPTIONS,
  document: { ...PDF, pages: 1 },
  timings: { queue: 1, start: 1, load: 2, ready: 3, print: 4, store: 5 },
  chrome: { product: 'test', revision: 'r', sandboxed: true, flags: ['--headless'] },
  fonts: ['DejaVuSans'],
  resources: [
    {
      url: 'https://example.com/logo.png',
      kind: 'Image',
      status: 200,
      type: 'image/png',
      bytes: 100,
      sha256: sha256(9),
      hashed: 'decoded',
    },
  ],
  resources_left_out: 0,
  tunnels: [{ host: 'example.com', bytes: 512 }],
  console_errors: [{ text: 'Uncaught Error', at: 'https://example.com/:1' }],
  console_errors_left_out: 0,
  waits: [{ for: 'load', ms: 1 }],
};
