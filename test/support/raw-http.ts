import { connect } from 'node:net';

/** Sends bytes as they are and reads until the server closes. */
export function rawHttp(port: number, bytes: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let answer = '';
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  socket.on('close', () => resolve(answer));
  socket.on('error', reject);
  return promise;
}

/** The parts of an answer as it came over the wire. */
export function partsOf(answer: string) {
  const [head = '', text = ''] = answer.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1).trim()];
    }),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, text };
}
