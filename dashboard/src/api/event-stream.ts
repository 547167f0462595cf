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
