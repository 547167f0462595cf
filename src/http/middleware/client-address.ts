import { isIPv4, isIPv6 } from 'node:net';
import type { HttpMiddleware } from '../context.ts';

/**
 * The client's address. Behind a trusted proxy it is the last entry of `X-Forwarded-For`, the one that
 * the proxy itself wrote: those before it are whatever the client sent.
 */
export function clientAddress({ trustProxy }: { trustProxy: boolean }): HttpMiddleware {
  return (ctx, next) => {
    const forwarded = trustProxy ? ctx.get('X-Forwarded-For').split(',').at(-1)?.trim() : undefined;
    const known = forwarded !== undefined && (isIPv4(forwarded) || isIPv6(forwarded));
    const address = known ? forwarded : (ctx.req.socket.remoteAddress ?? 'unknown');
    // A dual-stack socket shows an IPv4 client as ::ffff:a.b.c.d.
    ctx.state.clientAddress = address.replace(/^::ffff:(?=\d+\.)/i, '');
    return next();
  };
}
