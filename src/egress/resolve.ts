/** The addresses of a URL's name, each of them checked before anything connects to it. */
import { lookup, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { failure, refusal } from './errors.ts';
import { type EgressPolicy, isPublicAddress, judgeUrl, literalAddress } from './policy.ts';

/** Every address of a name, IPv4 and IPv6. Rejects with a `code` as `node:dns` does. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const QUERY_TIMEOUT_MS = 2_500;
const HOSTS_FILE = '/etc/hosts';

/**
 * Asks the hosts file and then DNS, without getaddrinfo: that blocks one of the few threads that the
 * whole process shares, so a page with a thousand names of a silent name server would stop every
 * other job. It also never completes a name with a search domain.
 */
export const resolveByDns: Resolve = async (hostname) => {
  const known = await addressesInHostsFile(hostname);
  if (known.length > 0) return known;
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: 2 });
  const answers = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  const addresses = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  if (addresses.length > 0) return addresses;
  throw worst(answers);
};

/** Asks as every other program of the host does: for development, where local names count. */
export const resolveBySystem: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, order: 'verbatim' })).map((each) => each.address);

async function addressesInHostsFile(hostname: string): Promise<string[]> {
  const text = await readFile(HOSTS_FILE, 'utf8').catch(() => '');
  const wanted = hostname.toLowerCase().replace(/\.$/, '');
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    return names.includes(wanted) ? [address] : [];
  });
}

/** A missing record says less than a name server that does not answer. */
function worst(answers: readonly PromiseSettledResult<string[]>[]): unknown {
  const reasons = answers.flatMap((each): unknown[] =>
    each.status === 'rejected' ? [each.reason] : [],
  );
  return reasons.find((reason) => !isMissing(reason)) ?? reasons[0];
}

function isMissing(reason: unknown): boolean {
  return (
    reason instanceof Error && 'code' in reason && /^E(NODATA|NOTFOUND)$/.test(String(reason.code))
  );
}

/** The addresses that a request may go to, each of which was checked. */
export interface Target {
  readonly url: URL;
  readonly addresses: readonly string[];
}

/**
 * Checks a request's URL and every address of its name.
 * @throws {EgressError} when it must not be fetched
 */
export async function admit(url: URL, policy: EgressPolicy, resolve: Resolve): Promise<Target> {
  const refused = judgeUrl(url, policy);
  if (refused !== undefined) throw refusal(refused.code, refused.reason);
  const literal = literalAddress(url.hostname);
  if (literal !== undefined) return { url, addresses: [literal] };
  // RFC 6761: never in DNS. Documents of ours live there, and a silent name server would delay them.
  const addresses = url.hostname.endsWith('.invalid') ? [] : await resolve(url.hostname);
  if (addresses.length === 0) throw failure('name-not-found');
  if (!policy.allowPrivateNetwork && !addresses.every(isPublicAddress)) {
    throw refusal(
      'private-address',
      `The name ${url.hostname} leads to an address that is not public.`,
    );
  }
  return { url, addresses };
}
