import { connect, isIPv6, type Socket } from 'node:net';
import { failure } from '../../egress/errors.ts';
import { literalAddress, portOf } from '../../egress/policy.ts';
import type { Target } from '../../egress/resolve.ts';
import type { EgressLimits, EgressSession } from './session.ts';

/** Connects to a checked address: no name is resolved here, so rebinding gets nothing. */
export function dial(
  target: Target,
  session: EgressSession,
  limits: EgressLimits,
  deadline: number,
): Socket {
  const socket = connect({
    host: literalAddress(target.url.hostname) ?? target.url.hostname,
    port: portOf(target.url),
    noDelay: true,
    autoSelectFamily: true,
    lookup: (_hostname, _options, answer) => {
      answer(
        null,
        target.addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 })),
      );
    },
  });
  session.track(socket);
  // An error always shows as a close, too. Without a listener one that nobody waits for would end the
  // thread.
  socket.on('error', () => {});
  const late = (): void => void socket.destroy(failure('timeout'));
  const timer = setTimeout(late, Math.max(1, deadline - performance.now()));
  const connected = (): void => {
    clearTimeout(timer);
    socket.setTimeout(limits.idleTimeoutMs, late);
  };
  socket.once('connect', connected).once('close', () => clearTimeout(timer));
  return socket;
}
