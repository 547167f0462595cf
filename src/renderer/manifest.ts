/** The render manifest of one conversion: what the render thread knows of it, and the JSON of its blob. */
import {
  MAX_MANIFEST_BYTES,
  type ManifestResource,
  type PageManifest,
  type RenderManifest,
} from '../domain/render-manifest.ts';
import type { CompletedOutcome, RenderJob } from '../render-queue/messages.ts';
import { timeOfId } from '../time/ids.ts';
import type { LaunchedChrome } from './browser/launch.ts';
import type { Page } from './chrome/page.ts';
import type { PageErrors } from './chrome/page-log.ts';
import type { PageRequest } from './chrome/requests.ts';
import type { EgressSession, Received } from './egress/session.ts';

/** The size as JSON of each list that a page can make long. */
const RESOURCES_BYTES = MAX_MANIFEST_BYTES - 112 * 1024;
const OTHER_LIST_BYTES = 32 * 1024;
const FONT_FILES_BYTES = 8 * 1024;

export interface ManifestParts
  extends Pick<CompletedOutcome, 'timings' | 'pdf' | 'pages' | 'conformance'> {
  readonly job: RenderJob;
  readonly attempt: number;
  readonly renderer: string;
  /** Milliseconds since the epoch. */
  readonly takenAt: number;
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
  const { job, attempt, renderer, takenAt, timings, pdf, pages, conformance } = parts;
  const { wait_for, font_files, ...page } = parts.page;
  const resources = thatFit(page.resources, RESOURCES_BYTES);
  const errors = thatFit(page.console_errors);
  const manifest: RenderManifest = {
    version: 1,
    conversion_id: job.conversionId,
    renderer,
    attempt,
    request: { sha256: job.request.sha256, bytes: job.request.bytes },
    options: { ...job.options, ...(wait_for && { wait_for }) },
    document: { ...pdf, pages, ...(conformance && { conformance }) },
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
    ...(font_files && { font_files: thatFit(font_files, FONT_FILES_BYTES) }),
    tunnels: thatFit(page.tunnels),
    resources,
    resources_left_out: page.resources_left_out + page.resources.length - resources.length,
    console_errors: errors,
    console_errors_left_out:
      page.console_errors_left_out + page.console_errors.length - errors.length,
  };
  return JSON.stringify(manifest);
}

/** The answers that the proxy saw, by URL. Each is taken once. */
type Answers = ReadonlyMap<string, Received[]>;

function seenByProxy({ bytes, sha256, encoding }: Received) {
  return {
    bytes,
    ...(sha256 === undefined ? {} : { sha256, hashed: 'received' as const }),
    ...(encoding === undefined ? {} : { encoding }),
  };
}

function resourceOf(
  logged: PageRequest,
  answers: Answers,
  session: EgressSession,
): ManifestResource {
  for (const { url } of logged.redirects) answers.get(url)?.shift();
  const { url, redirects, kind, status, type, body, error } = logged;
  const received = answers.get(url)?.shift();
  const incident = received === undefined ? session.explain(url)?.reason : undefined;
  const why = incident ?? error;
  return {
    url: session.shown(url),
    ...(redirects.length === 0 ? {} : { redirects }),
    kind,
    // The status that the proxy answered in a server's place is not a status of the resource.
    ...(status === undefined || incident !== undefined ? {} : { status }),
    ...(type === '' || incident !== undefined ? {} : { type }),
    bytes: incident === undefined ? logged.bytes : 0,
    ...body,
    ...(received && seenByProxy(received)),
    ...(why === undefined ? {} : { error: why }),
  };
}

/** Joins what Chrome and the proxy each saw of a document's requests into one list. */
export function pageManifest(
  { product, revision, sandboxNote, flags }: LaunchedChrome,
  { request: { wait_for }, requests, waits }: Page,
  fonts: readonly string[],
  errors: PageErrors,
  session: EgressSession,
): PageManifest {
  const answers = Map.groupBy(session.received.answers, ({ url }) => url);
  const resources = requests.resources.map((each) => resourceOf(each, answers, session));
  for (const url of requests.icons) answers.get(url)?.shift();
  // Requests that Chrome does not tell of, such as a prefetch, and those of unwatched parts.
  for (const received of [...answers.values()].flat()) {
    const { url, status, type } = received;
    resources.push({
      url: session.shown(url),
      status,
      ...(type && { type }),
      ...seenByProxy(received),
    });
  }
  return {
    chrome: { product, revision, sandboxed: sandboxNote === undefined, flags },
    fonts,
    resources,
    resources_left_out: requests.leftOut,
    tunnels: [...session.received.tunnels].map(([host, bytes]) => ({ host, bytes })),
    console_errors: errors.errors,
    console_errors_left_out: errors.leftOut,
    waits: waits.list,
    ...(wait_for && { wait_for }),
  };
}
