/**
 * The form of a renderer's report. Renderers that run strangers' pages may be taken over. So a report is
 * recorded only if it is exactly of this form, and speaks of nothing but its own conversion.
 */
import Type, { type TProperties } from 'typebox';
import { Compile } from 'typebox/schema';
import { blobKey } from '../domain/blob-key.ts';
import { LAST_ATTEMPT } from '../domain/conversion.ts';
import {
  AccountId,
  BlobRef,
  ConversionId,
  FAILURE_CODES,
  PdfDigest,
  type RenderTimings,
  Time,
} from '../domain/events.ts';
import { MAX_MANIFEST_BYTES } from '../domain/render-manifest.ts';
import {
  type CompletedReport,
  MAX_WARNING_CHARACTERS,
  MAX_WARNINGS,
  type RenderReport,
} from './messages.ts';
import { parseJson } from './parse-json.ts';

const MAX_PAGES = 1_000_000;
/** Counts against its account's storage. No PDF of ours comes near. */
const DocumentBytes = Type.Integer({ minimum: 0, maximum: 2 ** 30 });
/** Characters: a message may quote a selector, a host or Chrome's own words. */
const MAX_MESSAGE = 8192;
const Milliseconds = Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const exactly = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

const COMMON = {
  conversionId: ConversionId,
  accountId: AccountId,
  /** The name has no slash: it is a part of the id of what is recorded. */
  renderer: Type.String({ pattern: '^[0-9A-Za-z_.-]{1,100}$' }),
  attempt: Type.Integer({ minimum: 1, maximum: LAST_ATTEMPT }),
  at: Time,
};
const OUTCOME = { ...COMMON, startedAt: Type.Optional(Time) };

const REPORTS = {
  started: Compile(exactly({ ...COMMON, kind: Type.Literal('started') })),
  requeued: Compile(exactly({ ...COMMON, kind: Type.Literal('requeued') })),
  completed: Compile(
    exactly({
      ...OUTCOME,
      kind: Type.Literal('completed'),
      document: exactly({ ...BlobRef.properties, bytes: DocumentBytes }),
      pdf: exactly({ ...PdfDigest.properties, bytes: DocumentBytes }),
      pages: Type.Integer({ minimum: 1, maximum: MAX_PAGES }),
      timings: exactly({
        queued: Milliseconds,
        load: Milliseconds,
        ready: Milliseconds,
        print: Milliseconds,
        store: Milliseconds,
      } satisfies Record<keyof RenderTimings, typeof Milliseconds>),
      chrome: Type.String({ maxLength: 256 }),
      manifest: Type.String({ maxLength: MAX_MANIFEST_BYTES }),
      warnings: Type.Optional(
        Type.Array(Type.String({ maxLength: MAX_WARNING_CHARACTERS }), {
          minItems: 1,
          maxItems: MAX_WARNINGS,
        }),
      ),
    }),
  ),
  failed: Compile(
    exactly({
      ...OUTCOME,
      kind: Type.Literal('failed'),
      code: Type.Enum([...FAILURE_CODES]),
      message: Type.String({ maxLength: MAX_MESSAGE }),
    }),
  ),
};

/** @returns nothing where it is not a report */
export function parseReport(data: Uint8Array): RenderReport | undefined {
  try {
    const report = parseJson(data);
    if (REPORTS.started.Check(report) || REPORTS.requeued.Check(report)) return report;
    if (REPORTS.failed.Check(report)) return report;
    return REPORTS.completed.Check(report) && isCoherent(report) ? report : undefined;
  } catch {
    return undefined;
  }
}

/** Checks what a schema cannot say. @throws {SyntaxError} the manifest is no JSON */
function isCoherent({ conversionId, document, manifest }: CompletedReport): boolean {
  // Another conversion's PDF would be served as this one's.
  if (document.key !== blobKey(conversionId, 'document', document.sha256)) return false;
  if (Buffer.byteLength(manifest) > MAX_MANIFEST_BYTES) return false;
  const content = JSON.parse(manifest) as unknown;
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}
