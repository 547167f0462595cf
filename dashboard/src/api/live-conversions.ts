/** The stream of the account's conversions as they change. One for all pages, which read what it tells from the cache. */
import { skipToken, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { SessionEndedError } from '../session/session.ts';
import { ACCOUNT, askWhoIsHere, fetchSignedIn, type Paged, queryClient } from './client.ts';
import {
  type Conversion,
  type ConversionFilter,
  isEnded,
  isListed,
  LISTS,
  oneConversion,
} from './conversions.ts';
import { ApiError, isForbidden } from './error.ts';

const PATH = '/api/v1/conversions/stream/';
/** The service ends a stream with its access token; the next one resumes it. */
const RESUME_MS = 500;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 15_000;
/** Changes are shown together: many conversions may end in the same moment. */
const BATCH_MS = 200;
/** Each question counts in the rate limit. */
const ASK_AGAIN_MS = 2000;
/** The service sends a line at least each 15 seconds, so a longer silence is a connection that is gone. */
const SILENCE_MS = 40_000;

/** `refused`: the account has as many streams as it may. */
export type LiveState = 'connecting' | 'live' | 'lost' | 'refused';

const STATE = ['live'];
const show = (state: LiveState): unknown => queryClient.setQueryData(STATE, state);

export const useLiveState = (): LiveState =>
  useQuery<LiveState>({ queryKey: STATE, queryFn: skipToken, gcTime: Infinity }).data ??
  'connecting';

/** Of a query that is asked again after conversions have ended. */
export const RENEWED = { meta: { renewed: true } } as const;

/** Resolves after the time, or sooner when the browser is online again or the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      window.removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    window.addEventListener('online', end);
    signal.addEventListener('abort', end);
  });
}

/** Half of it is random, so that the pages of many people do not come back in the same moment. */
const retryAfterMs = (failures: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS) * (0.5 + Math.random() / 2);

/** Puts what the stream tells into one list: the rows that it shows, and which newer ones there are. */
function withChanges(
  list: Paged<Conversion>,
  filter: ConversionFilter,
  changed: ReadonlyMap<string, Conversion>,
): Paged<Conversion> {
  // The ids of conversions grow with time.
  const newest = list.items[0]?.id ?? '';
  const added = [...changed.values()].filter((each) => each.id > newest && isListed(filter, each));
  if (added.length === 0 && !list.items.some(({ id }) => changed.has(id))) return list;
  return {
    total: list.total,
    items: list.items.map((each) => changed.get(each.id) ?? each),
    added: [...new Set([...(list.added ?? []), ...added.map(({ id }) => id)])],
  };
}

/** Puts what the stream tells into the answers that pages hold. */
function takeIntoQueries(changed: ReadonlyMap<string, Conversion>): void {
  for (const [key, list] of queryClient.getQueriesData<Paged<Conversion>>({ queryKey: LISTS })) {
    const [, filter] = key as readonly [unknown, ConversionFilter];
    const next = list && withChanges(list, filter, changed);
    // An answer that is set counts as fresh.
    if (next !== list) queryClient.setQueryData(key, next);
  }
  for (const [id, record] of changed) {
    const queryKey = oneConversion(id);
    queryClient.setQueryData<Conversion>([...queryKey, 'record'], (known) => known && record);
    void queryClient.invalidateQueries({ queryKey: [...queryKey, 'events'] });
  }
  // A credit is taken when a conversion is accepted, and may come back at its end.
  if ([...changed.values()].some(isEnded)) askAfterEnds();
}

let endsTimer: ReturnType<typeof setTimeout> | undefined;

/** Asks soon for what the end of a conversion changes, and once where many end. */
function askAfterEnds(): void {
  endsTimer ??= setTimeout(() => {
    endsTimer = undefined;
    void queryClient.invalidateQueries({ queryKey: ACCOUNT });
    void queryClient.invalidateQueries({ predicate: ({ meta }) => meta?.['renewed'] === true });
  }, ASK_AGAIN_MS);
}

/** Pages that were opened while the service could not be reached show an error. */
function askFailedAgain(): void {
  void queryClient.invalidateQueries({ predicate: ({ state }) => state.status === 'error' });
}

function askAllAgain(): void {
  void queryClient.invalidateQueries({ queryKey: LISTS });
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [area, , part] }) =>
      area === 'conversion' && (part === 'record' || part === 'events'),
  });
}

/** Follows the stream, through lost connections, until the signal aborts. */
async function run(signal: AbortSignal): Promise<void> {
  let failures = 0;
  let lastEventId: string | undefined;
  let batch = new Map<string, Conversion>();
  const flush = () => {
    const changed = batch;
    batch = new Map();
    takeIntoQueries(changed);
  };
  /** Resolves when the service ends the stream. */
  const follow = async () => {
    const connection = new AbortController();
    const abort = () => connection.abort();
    signal.addEventListener('abort', abort);
    window.addEventListener('offline', abort);
    try {
      const resumed = lastEventId;
      const headers = {
        Accept: 'text/event-stream',
        ...(resumed !== undefined && { 'Last-Event-ID': resumed }),
      };
      const response = await fetchSignedIn(
        new Request(PATH, { headers, cache: 'no-store', signal: connection.signal }),
      );
      if (!response.ok || response.body === null) throw await ApiError.from(response);
      failures = 0;
      if (queryClient.getQueryData(STATE) === 'lost') askFailedAgain();
      show('live');
      // Neither the pages' own requests nor the stream have what changed between the two.
      if (resumed === undefined) askAllAgain();
      for await (const { id, event, data = '' } of eventsOf(response.body, abort)) {
        lastEventId = id ?? lastEventId;
        // The service has more to tell since the last event than it sends.
        if (event === 'reset') askAllAgain();
        if (event !== 'conversion') continue;
        const record = JSON.parse(data) as Conversion;
        if (batch.size === 0) setTimeout(flush, BATCH_MS);
        batch.set(record.id, record);
      }
    } finally {
      signal.removeEventListener('abort', abort);
      window.removeEventListener('offline', abort);
    }
  };
  show('connecting');
  while (!signal.aborted) {
    let waitMs = RESUME_MS;
    try {
      await follow();
    } catch (error) {
      if (signal.aborted || error instanceof SessionEndedError) return;
      failures += 1;
      // The frame of the pages says why, once it knows who is here.
      if (isForbidden(error)) await askWhoIsHere();
      else show(error instanceof ApiError && error.status === 429 ? 'refused' : 'lost');
      const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
      waitMs = Math.max(asked, retryAfterMs(failures));
    }
    await pause(waitMs, signal);
  }
}

/** Follows the conversions while the component is shown: the frame of all pages does. */
export function useLiveStream(): void {
  useEffect(() => {
    const stopped = new AbortController();
    void run(stopped.signal);
    return () => stopped.abort();
  }, []);
}

type StreamEvent = Readonly<Partial<Record<'id' | 'event' | 'data', string>>>;

/** The fields of one event. The service writes each on one line; its comments have no name. */
const eventOf = (block: string): StreamEvent =>
  Object.fromEntries(
    block.split(/\r?\n/).map((line) => /^(\w*): ?(.*)$/.exec(line)?.slice(1) ?? ['', '']),
  ) as StreamEvent;

/**
 * Reads server-sent events of an answer: `EventSource` sends no access token.
 * @param abort ends the request of the answer; called after a long silence
 * @throws where the connection breaks
 */
async function* eventsOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  abort: () => void,
): AsyncGenerator<StreamEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const silence = setTimeout(abort, SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    yield* blocks.map(eventOf);
  }
}
