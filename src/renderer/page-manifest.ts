/** What Chrome and the proxy each saw of a document's requests, as one list. */
import type { ManifestResource, PageManifest } from '../domain/render-manifest.ts';
import type { LaunchedChrome } from './chrome/launch.ts';
import type { RenderedDocument } from './chrome/render.ts';
import type { LoggedResource } from './chrome/resource-log.ts';
import type { EgressJob } from './egress/proxy.ts';
import type { Received } from './egress/received.ts';

type Explain = EgressJob['explain'];

/** The answers that the proxy saw, by URL, each to be taken once. */
class Answers {
  readonly #byUrl = new Map<string, Received[]>();

  constructor(answers: readonly Received[]) {
    for (const each of answers) {
      const known = this.#byUrl.get(each.url);
      if (known) known.push(each);
      else this.#byUrl.set(each.url, [each]);
    }
  }

  take(url: string): Received | undefined {
    return this.#byUrl.get(url)?.shift();
  }

  rest(): readonly Received[] {
    return [...this.#byUrl.values()].flat();
  }
}

function seenByProxy({ bytes, sha256, encoding }: Received) {
  return {
    bytes,
    ...(sha256 === undefined ? {} : { sha256, hashed: 'received' as const }),
    ...(encoding === undefined ? {} : { encoding }),
  };
}

function resourceOf(logged: LoggedResource, answers: Answers, explain: Explain): ManifestResource {
  for (const { url } of logged.redirects) answers.take(url);
  const { url, redirects, kind, status, type, body, error } = logged;
  const received = answers.take(url);
  const incident = received === undefined ? explain(url)?.reason : undefined;
  const why = incident ?? error;
  return {
    url,
    ...(redirects.length === 0 ? {} : { redirects }),
    kind,
    // What the proxy answered in a server's place is no status of the resource.
    ...(status === undefined || incident !== undefined ? {} : { status }),
    ...(type === '' || incident !== undefined ? {} : { type }),
    bytes: incident === undefined ? logged.bytes : 0,
    ...body,
    ...(received && seenByProxy(received)),
    ...(why === undefined ? {} : { error: why }),
  };
}

export function pageManifest(
  chrome: Pick<LaunchedChrome, 'product' | 'revision' | 'sandboxed' | 'flags'>,
  { fonts, log, errors, waits }: RenderedDocument,
  job: Pick<EgressJob, 'received' | 'explain'>,
): PageManifest {
  const { product, revision, sandboxed, flags } = chrome;
  const answers = new Answers(job.received.answers);
  const resources = log.resources.map((each) =>
    resourceOf(each, answers, (url) => job.explain(url)),
  );
  // What Chrome told nobody of, such as a prefetch, and what ran unwatched.
  for (const received of answers.rest()) {
    const { url, status, type } = received;
    resources.push({ url, status, ...(type && { type }), ...seenByProxy(received) });
  }
  return {
    chrome: { product, revision, sandboxed, flags },
    fonts,
    resources,
    resources_left_out: log.leftOut,
    tunnels: [...job.received.tunnels].map(([host, bytes]) => ({ host, bytes })),
    console_errors: errors.errors,
    console_errors_left_out: errors.leftOut,
    waits: waits.list,
  };
}
