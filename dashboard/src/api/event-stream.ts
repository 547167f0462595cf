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

/** Collects the lines of one event. https://html.spec.whatwg.org/multipage/server-sent-events.html */
class EventLines {
  #type = 'message';
  #data: string[] = [];
  #id: string | undefined;

  /** @returns the event that an empty line ends, if it has data or an id */
  add(line: string): StreamEvent | undefined {
    if (line === '') return this.#end();
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === 'event') this.#type = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id') this.#id = value;
    return undefined;
  }

  #end(): StreamEvent | undefined {
    const [type, data, id] = [this.#type, this.#data, this.#id];
    this.#type = 'message';
    this.#data = [];
    this.#id = undefined;
    if (data.length === 0 && id === undefined) return undefined;
    return { type, data: data.join('\n'), ...(id !== undefined && { id }) };
  }
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
  const lines = new EventLines();
  let rest = '';
  for (;;) {
    const { done, value } = await readWithin(reader.read(), abort);
    if (done) return;
    const parts = (rest + value).split(/\r?\n/);
    rest = parts.pop() ?? '';
    for (const line of parts) {
      const event = lines.add(line);
      if (event !== undefined) yield event;
    }
  }
}
