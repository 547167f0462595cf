/** Reads server-sent events (https://html.spec.whatwg.org/#server-sent-events). */
import type { Test } from 'tap';

export interface StreamEvent {
  readonly event: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

function eventOf(block: string): Partial<Record<string, string>> {
  return Object.fromEntries(
    block.split('\n').map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1).trimStart()];
    }),
  );
}

/** Opens a stream that ends with the test. */
export async function openEventStream(
  t: Pick<Test, 'teardown'>,
  url: string,
  headers: Readonly<Record<string, string>>,
) {
  const cut = new AbortController();
  t.teardown(() => cut.abort());
  const response = await fetch(url, { headers, signal: cut.signal });
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let text = '';
  let lastId = '';

  /** The next event; undefined at the end of the stream. */
  async function next(): Promise<StreamEvent | undefined> {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end === -1) {
        const { value, done } = await reader.read();
        if (done) return undefined;
        text += value;
        continue;
      }
      const { id = lastId, event, data } = eventOf(text.slice(0, end));
      text = text.slice(end + 2);
      lastId = id;
      if (event !== undefined && data !== undefined) {
        return { event, id, data: JSON.parse(data) as StreamEvent['data'] };
      }
    }
  }

  return {
    response,
    next,
    /** Events up to the one that the condition holds for. */
    async until(holds: (event: StreamEvent) => boolean): Promise<readonly StreamEvent[]> {
      const events: StreamEvent[] = [];
      for (;;) {
        const event = await next();
        if (event === undefined) throw new Error('The stream has ended.');
        events.push(event);
        if (holds(event)) return events;
      }
    },
    lastId: () => lastId,
    cut: () => cut.abort(),
  };
}
