/** What one job received through the proxy, for the account that is given of it. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** An answer to a plain request: its body was seen as it came. */
export interface Received {
  readonly url: string;
  readonly method: string;
  readonly status: number;
  /** Media type, without parameters. */
  readonly type: string;
  /** Content coding, where there was one. */
  readonly encoding: string | undefined;
  bytes: number;
  /** Hex; once the body has come to its end. */
  sha256: string | undefined;
}

const MAX_RECEIVED = 2_000;
const MAX_HOSTS = 200;

export class ReceivedLog {
  readonly answers: Received[] = [];
  /** Bytes through tunnels, both directions, by host and port. */
  readonly tunnels = new Map<string, number>();

  /** Follows an answer's body as it streams. Must be called before the body flows. */
  follow(url: URL, method: string, answer: IncomingMessage): void {
    if (this.answers.length >= MAX_RECEIVED) return;
    const { headers, statusCode = 0 } = answer;
    const received: Received = {
      url: url.href,
      method,
      status: statusCode,
      type: (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '',
      encoding: headers['content-encoding'],
      bytes: 0,
      sha256: undefined,
    };
    this.answers.push(received);
    const hash = createHash('sha256');
    answer.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      received.bytes += chunk.length;
    });
    answer.once('end', () => {
      received.sha256 = hash.digest('hex');
    });
  }

  countTunnel(name: string, bytes: number): void {
    const known = this.tunnels.get(name);
    if (known !== undefined || this.tunnels.size < MAX_HOSTS) {
      this.tunnels.set(name, (known ?? 0) + bytes);
    }
  }
}
