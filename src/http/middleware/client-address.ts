import { isIPv4, isIPv6, type Socket, SocketAddress } from 'node:net';
import type { HttpMiddleware } from '../context.ts';

/** A dual-stack socket shows an IPv4 client as ::ffff:a.b.c.d. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/**
 * The address of an `X-Forwarded-For` entry, in its one canonical form; undefined if there is none.
 * Some proxies write the port too: `192.0.2.1:1234`, `[2001:db8::1]:1234`.
 */
function addressIn(entry: string): string | undefined {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/.exec(entry) ?? [];
  const address = bracketed ?? dotted ?? entry;
  if (isIPv4(address)) return address;
  const [unscoped = ''] = address.split('%', 1);
  if (!isIPv6(unscoped)) return undefined;
  return plain(new SocketAddress({ family: 'ipv6', address: unscoped }).address);
}

/** The address at the other end of a connection. */
export const addressOf = ({ remoteAddress = 'unknown' }: Socket): string => plain(remoteAddress);

/**
 * The client's address. Behind a trusted proxy it is the last entry of `X-Forwarded-For`, the one that
 * the proxy itself wrote: those before it are whatever the client sent.
 */
export function clientAddress({ trustProxy }: { trustProxy: boolean }): HttpMiddleware {
  return (ctx, next) => {
    const forwarded = trustProxy ? ctx.get('X-Forwarded-For').split(',').at(-1)?.trim() : undefined;
    ctx.state.clientAddress = addressIn(forwarded ?? '') ?? addressOf(ctx.req.socket);
    return next();
  };
}
