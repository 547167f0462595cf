/** HTTP requests as no decent client sends them. */
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface RawRequest {
  readonly method: string;
  /** Sent as it is. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export const keepAlive = (): Agent => new Agent({ keepAlive: true, maxSockets: 4 });

/** @throws {Error} the connection ended without an answer */
export async function send(origin: string, agent: Agent, asked: RawRequest): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const { hostname, port } = new URL(origin);
  const { method, target, body } = asked;
  // Node's client announces no length where the method is one that commonly has no body.
  const length = body === undefined ? {} : { 'Content-Length': String(body.length) };
  const headers = { ...asked.headers, ...length };
  const sent = request({ hostname, port, agent, method, path: target, headers }, (answer) => {
    const answered = new Headers(
      Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
        values.map((value): [string, string] => [name, value]),
      ),
    );
    text(answer).then(
      (whole) => resolve({ status: answer.statusCode ?? 0, headers: answered, text: whole }),
      reject,
    );
  });
  sent.on('error', reject);
  sent.end(body);
  return await promise;
}
