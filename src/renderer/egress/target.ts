import { connect, isIPv6, type Socket } from 'node:net';
import { type EgressPolicy, isPublicAddress, judgeUrl, literalAddress, portOf } from './address.ts';
import { EgressFailure, EgressRefusal } from './errors.ts';
import type { EgressLimits, Job } from './job.ts';
import type { Resolve } from './resolve.ts';

/** Where a request may go: only to these addresses, each of which was checked. */
export interface Target {
  readonly url: URL;
  readonly addresses: readonly string[];
}

/**
 * Checks a request's URL and every address of its name.
 * @throws {EgressRefusal} when it must not be fetched
 */
export async function admit(url: URL, policy: EgressPolicy, resolve: Resolve): Promise<Target> {
  const refusal = judgeUrl(url, policy);
  if (refusal !== undefined) throw new EgressRefusal(refusal.code, refusal.reason);
  const literal = literalAddress(url.hostname);
  if (literal !== undefined) return { url, addresses: [literal] };
  // RFC 6761: never in DNS. Documents of ours live there, and a silent name server would delay them.
  const addresses = url.hostname.endsWith('.invalid') ? [] : await resolve(url.hostname);
  if (addresses.length === 0) throw new EgressFailure('name-not-found');
  if (!policy.allowPrivateNetwork && !addresses.every(isPublicAddress)) {
    throw new EgressRefusal(
      'private-address',
      `The name ${url.hostname} leads to an address that is not public.`,
    );
  }
  return { url, addresses };
}

/** Connects to a checked address: no name is resolved here, so rebinding gets nothing. */
export function dial(target: Target, job: Job, limits: EgressLimits, deadline: number): Socket {
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
  job.track(socket);
  // An error always shows as a close, too. Without a listener one that nobody waits for would end the
  // thread.
  socket.on('error', () => {});
  const late = (): void => void socket.destroy(new EgressFailure('timeout'));
  const timer = setTimeout(late, Math.max(1, deadline - performance.now()));
  const connected = (): void => {
    clearTimeout(timer);
    socket.setTimeout(limits.idleTimeoutMs, late);
  };
  socket.once('connect', connected).once('close', () => clearTimeout(timer));
  return socket;
}
