import { isIPv4, isIPv6, type Socket } from 'node:net';
import type { HttpMiddleware } from '../context.ts';

/** A dual-stack socket shows an IPv4 client as ::ffff:a.b.c.d. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** The address at the other end of a connection. */
export const addressOf = ({ remoteAddress = 'unknown' }: Socket): string => plain(remoteAddress);

/**
 * The client's address. Behind a trusted proxy it is the last entry of `X-Forwarded-For`, the one that
 * the proxy itself wrote: those before it are whatever the client sent.
 */
export function clientAddress({ trustProxy }: { trustProxy: boolean }): HttpMiddleware {
  return (ctx, next) => {
    const forwarded = trustProxy ? ctx.get('X-Forwarded-For').split(',').at(-1)?.trim() : undefined;
    const known = forwarded !== undefined && (isIPv4(forwarded) || isIPv6(forwarded));
    ctx.state.clientAddress = known ? plain(forwarded) : addressOf(ctx.req.socket);
    return next();
  };
}
