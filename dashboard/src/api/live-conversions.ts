/** The stream of the account's conversions as they change. One for all pages, while any of them listens. */
import { useEffect, useSyncExternalStore } from 'react';
import { SessionEndedError } from '../session/session.ts';
import { ACCOUNT, askWhoIsHere, fetchSignedIn, type Paged, queryClient } from './client.ts';
import { type Conversion, isEnded, LISTS, oneConversion } from './conversions.ts';
import { ApiError, isForbidden } from './error.ts';

const PATH = '/api/v1/conversions/stream/';
/** The service ends a stream with its access token; the next one resumes it. */
const RESUME_MS = 500;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 15_000;
/** Changes are shown together: many conversions may end in the same moment. */
const BATCH_MS = 200;
const ACCOUNT_MS = 2000;

/** `refused`: the account has as many streams as it may. */
export type LiveState = 'connecting' | 'live' | 'lost' | 'refused';

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

/** Puts what the stream tells into the answers that pages hold. */
function takeIntoQueries(changed: ReadonlyMap<string, Conversion>): void {
  queryClient.setQueriesData<Paged<Conversion>>({ queryKey: LISTS }, (list) => {
    if (!list?.items.some(({ id }) => changed.has(id))) return list;
    return { ...list, items: list.items.map((each) => changed.get(each.id) ?? each) };
  });
  for (const [id, record] of changed) {
    const queryKey = oneConversion(id);
    const recordKey = [...queryKey, 'record'];
    queryClient.setQueryData<Conversion>(recordKey, (known) => known && record);
    void queryClient.invalidateQueries({ queryKey: [...queryKey, 'events'] });
  }
  // A credit is taken when a conversion is accepted, and may come back at its end.
  if ([...changed.values()].some(isEnded)) askForAccount();
}

let accountTimer: ReturnType<typeof setTimeout> | undefined;

/** Asks for the account soon, and once where many conversions end: each request counts in the rate limit. */
function askForAccount(): void {
  accountTimer ??= setTimeout(() => {
    accountTimer = undefined;
    void queryClient.invalidateQueries({ queryKey: ACCOUNT });
  }, ACCOUNT_MS);
}

/** Pages that were opened while the service could not be reached show an error. */
function askFailedAgain(): void {
  void queryClient.invalidateQueries({ predicate: ({ state }) => state.status === 'error' });
}

class LiveConversions {
  #state: LiveState = 'connecting';
  #lastEventId: string | undefined;
  #stopped: AbortController | undefined;
  #batch = new Map<string, Conversion>();
  readonly #stateListeners = new Set<() => void>();
  readonly #listeners = new Set<(changed: readonly Conversion[]) => void>();

  get state(): LiveState {
    return this.#state;
  }

  onState(listener: () => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  onChange(listener: (changed: readonly Conversion[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @returns a function that ends the stream */
  start(): () => void {
    const stopped = new AbortController();
    this.#stopped?.abort();
    this.#stopped = stopped;
    this.#lastEventId = undefined;
    this.#show('connecting');
    void this.#run(stopped.signal);
    return () => stopped.abort();
  }

  #show(state: LiveState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const listener of this.#stateListeners) listener();
  }

  async #run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      let waitMs = RESUME_MS;
      try {
        await this.#follow(signal, () => {
          failures = 0;
        });
      } catch (error) {
        if (signal.aborted || error instanceof SessionEndedError) return;
        failures += 1;
        // The frame of the pages says why, once it knows who is here.
        if (isForbidden(error)) await askWhoIsHere();
        else this.#show(error instanceof ApiError && error.status === 429 ? 'refused' : 'lost');
        const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
        waitMs = Math.max(asked, retryAfterMs(failures));
      }
      await pause(waitMs, signal);
    }
  }

  /** Resolves when the service ends the stream. */
  async #follow(signal: AbortSignal, onOpen: () => void): Promise<void> {
    const connection = new AbortController();
    const abort = () => connection.abort();
    signal.addEventListener('abort', abort);
    window.addEventListener('offline', abort);
    try {
      const resumed = this.#lastEventId;
      const headers = {
        Accept: 'text/event-stream',
        ...(resumed !== undefined && { 'Last-Event-ID': resumed }),
      };
      const response = await fetchSignedIn(
        new Request(PATH, { headers, cache: 'no-store', signal: connection.signal }),
      );
      if (!response.ok || response.body === null) throw await ApiError.from(response);
      onOpen();
      if (this.#state === 'lost') askFailedAgain();
      this.#show('live');
      // Neither the pages' own requests nor the stream have what changed between the two.
      if (resumed === undefined) this.#askAgain();
      for await (const event of eventsOf(response.body, abort)) {
        if (event.id !== undefined) this.#lastEventId = event.id;
        if (event.type === 'conversion') this.#take(JSON.parse(event.data) as Conversion);
        // The service has more to tell since the last event than it sends.
        if (event.type === 'reset') this.#askAgain();
      }
    } finally {
      signal.removeEventListener('abort', abort);
      window.removeEventListener('offline', abort);
    }
  }

  #askAgain(): void {
    void queryClient.invalidateQueries({ queryKey: LISTS });
    void queryClient.invalidateQueries({
      predicate: ({ queryKey: [area, , part] }) =>
        area === 'conversion' && (part === 'record' || part === 'events'),
    });
  }

  #take(record: Conversion): void {
    if (this.#batch.size === 0) setTimeout(() => this.#flush(), BATCH_MS);
    this.#batch.set(record.id, record);
  }

  #flush(): void {
    const changed = this.#batch;
    this.#batch = new Map();
    takeIntoQueries(changed);
    for (const listener of this.#listeners) listener([...changed.values()]);
  }
}

const live = new LiveConversions();

/** Follows the conversions while the component is shown: the frame of all pages does. */
export function useLiveStream(): void {
  useEffect(() => live.start(), []);
}

export const useLiveState = (): LiveState =>
  useSyncExternalStore(
    (listener) => live.onState(listener),
    () => live.state,
  );

/** Calls back with conversions that are new or have changed. The listener must stay the same. */
export function useConversionChanges(listener: (changed: readonly Conversion[]) => void): void {
  useEffect(() => live.onChange(listener), [listener]);
}

/** Reads server-sent events of an answer: `EventSource` sends no access token. */

/** The service sends a line at least each 15 seconds, so a longer silence is a connection that is gone. */
const SILENCE_MS = 40_000;

export interface StreamEvent {
  readonly type: string;
  /** Empty if there is only an id. */
  readonly data: string;
  /** The id to resume after, if the event has one. */
  readonly id?: string;
}

/**
 * Reads the lines of one event. https://html.spec.whatwg.org/multipage/server-sent-events.html
 * @returns nothing where they hold neither data nor an id
 */
function eventOf(lines: readonly string[]): StreamEvent | undefined {
  const fields = lines.map((line) => /^([^:]*):? ?(.*)$/s.exec(line) ?? []);
  const valuesOf = (name: string) =>
    fields.flatMap(([, field, value = '']) => (field === name ? [value] : []));
  const [type = 'message'] = valuesOf('event').slice(-1);
  const [id] = valuesOf('id').slice(-1);
  const data = valuesOf('data');
  if (data.length === 0 && id === undefined) return undefined;
  return { type, data: data.join('\n'), ...(id !== undefined && { id }) };
}

async function readWithin<T>(read: Promise<T>, abort: () => void): Promise<T> {
  const timer = setTimeout(abort, SILENCE_MS);
  try {
    return await read;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @param abort ends the request of the answer; called after a long silence
 * @throws where the connection breaks
 */
export async function* eventsOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  abort: () => void,
): AsyncGenerator<StreamEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await readWithin(reader.read(), abort);
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = eventOf(block.split(/\r?\n/));
      if (event !== undefined) yield event;
    }
  }
}
