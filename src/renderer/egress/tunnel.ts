import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { asEgressError, type EgressError } from './errors.ts';
import type { Job } from './job.ts';

/**
 * Joins Chrome's connection with one to the server after CONNECT: TLS and WebSockets pass as they
 * are, with back-pressure.
 */
export function tunnel(client: Duplex, head: Buffer, name: string, job: Job, server: Socket): void {
  const count = (chunk: Buffer): void => {
    job.count(chunk.length, name);
    job.received.countTunnel(name, chunk.length);
  };
  const failed = (error: unknown): void => {
    const told = asEgressError(error);
    job.record(name, told);
    rejectTunnel(client, told);
  };
  server.once('error', failed);
  client.once('close', () => server.destroy());
  server.once('connect', () => {
    server.off('error', failed);
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) client.unshift(head);
    client.on('data', count);
    server.on('data', count);
    // What broke shows at once as a close; an orderly end goes through the pipes.
    server.on('error', () => client.destroy());
    // Chrome never closes one direction only: a server that ignores it must not keep its place.
    client.once('end', () => server.destroySoon());
    server.once('close', () => client.end());
    client.pipe(server).pipe(client);
  });
}

/** Refuses a CONNECT and closes the connection: Chrome does not use it again. */
export function rejectTunnel(client: Duplex, error: EgressError): void {
  const body = `${error.message}\n`;
  client.end(
    [
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
      `${error.header}: ${error.code}`,
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
