/** The render manifest of one conversion, as the JSON that its blob holds. */
import type { PdfDigest, RenderTimings } from '../domain/events.ts';
import {
  MAX_MANIFEST_BYTES,
  type PageManifest,
  type RenderManifest,
} from '../domain/render-manifest.ts';
import { timeOfId } from '../ids.ts';
import type { RenderJob } from '../render-queue/messages.ts';

/** Of JSON, for each list that a page can make long. */
const RESOURCES_BYTES = MAX_MANIFEST_BYTES - 112 * 1024;
const OTHER_LIST_BYTES = 32 * 1024;

export interface ManifestParts {
  readonly job: RenderJob;
  readonly renderer: string;
  /** Milliseconds since the epoch. */
  readonly takenAt: number;
  readonly timings: RenderTimings;
  readonly pdf: PdfDigest;
  readonly pages: number;
  readonly page: PageManifest;
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;

/** The first ones that fit, by the size of their JSON. */
function thatFit<T>(list: readonly T[], bytes: number = OTHER_LIST_BYTES): readonly T[] {
  let room = bytes;
  const end = list.findIndex((each) => {
    room -= Buffer.byteLength(JSON.stringify(each)) + 1;
    return room < 0;
  });
  return end === -1 ? list : list.slice(0, end);
}

/** @returns at most `MAX_MANIFEST_BYTES` in UTF-8 */
export function composeManifest(parts: ManifestParts): string {
  const { job, renderer, takenAt, timings, pdf, pages, page } = parts;
  const resources = thatFit(page.resources, RESOURCES_BYTES);
  const errors = thatFit(page.console_errors);
  const manifest: RenderManifest = {
    version: 1,
    conversion_id: job.conversionId,
    renderer,
    attempt: job.attempt,
    request: { sha256: job.request.sha256, bytes: job.request.bytes },
    options: job.options,
    document: { ...pdf, pages },
    timings: {
      queue: Math.max(0, takenAt - timeOfId(job.conversionId)),
      start: tenths(timings.queued),
      load: tenths(timings.load),
      ready: tenths(timings.ready),
      print: tenths(timings.print),
      store: tenths(timings.store),
    },
    ...page,
    waits: page.waits.map((each) => ({ ...each, ms: tenths(each.ms) })),
    fonts: thatFit(page.fonts),
    tunnels: thatFit(page.tunnels),
    resources,
    resources_left_out: page.resources_left_out + page.resources.length - resources.length,
    console_errors: errors,
    console_errors_left_out:
      page.console_errors_left_out + page.console_errors.length - errors.length,
  };
  return JSON.stringify(manifest);
}
