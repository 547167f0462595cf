/**
 * The addresses, names and ports that a page may reach. Pure; used by the proxy for every request and
 * by the HTTP API to refuse a request's `url` at once.
 */
import { BlockList, isIP } from 'node:net';

export interface EgressPolicy {
  /** Allows every address, name and port, for development. */
  readonly allowPrivateNetwork: boolean;
  /** Ports allowed besides 80, 443, 8080 and 8443. */
  readonly extraPorts: readonly number[];
}

export type UrlRefusalCode =
  | 'malformed'
  | 'scheme'
  | 'not-https'
  | 'credentials'
  | 'port'
  | 'local-name'
  | 'private-address';

export interface UrlRefusal {
  readonly code: UrlRefusalCode;
  /** A sentence for people. It names no address but one that the URL itself spells out. */
  readonly reason: string;
}

// https://www.iana.org/assignments/iana-ipv4-special-registry/, all of it, also the entries that are
// reachable globally (AS112, AMT): no page lives there, and a network may answer for them itself.
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Azure's host node answers its guests here: a public address by the registry, private in effect.
  '168.63.129.16/32',
];

// Global unicast is 2000::/3; what is outside of it (loopback, mapped and compatible IPv4, NAT64,
// unique local, link local, multicast …) is not public. Inside, this registry takes parts out:
// https://www.iana.org/assignments/iana-ipv6-special-registry/
const GLOBAL_IPV6 = ['2000::/3'];
const SPECIAL_IPV6 = [
  '2001::/23', // IETF protocol assignments: Teredo, benchmarking, ORCHID …
  '2001:db8::/32',
  '2002::/16', // 6to4: an IPv4 address in disguise
  '2620:4f:8000::/48',
  '3fff::/20',
];

const PORTS: readonly number[] = [80, 443, 8080, 8443];

// Names that only a host or its own network answers for (RFC 6761, 6762, 8375, ICANN's .internal,
// and the private ones that are never delegated).
const LOCAL_SUFFIXES = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
];

function subnets(family: 'ipv4' | 'ipv6', list: readonly string[]): BlockList {
  const block = new BlockList();
  for (const subnet of list) {
    const [network = '', bits] = subnet.split('/');
    block.addSubnet(network, Number(bits), family);
  }
  return block;
}

const specialIpv4 = subnets('ipv4', SPECIAL_IPV4);
const globalIpv6 = subnets('ipv6', GLOBAL_IPV6);
const specialIpv6 = subnets('ipv6', SPECIAL_IPV6);

/** True for a global address in plain dotted or colon form. Anything else is not, zones too. */
export function isPublicAddress(ip: string): boolean {
  if (ip.includes('%')) return false;
  switch (isIP(ip)) {
    case 4:
      return !specialIpv4.check(ip, 'ipv4');
    case 6:
      return globalIpv6.check(ip, 'ipv6') && !specialIpv6.check(ip, 'ipv6');
    default:
      return false;
  }
}

/**
 * The address that a WHATWG-parsed hostname spells, without brackets; undefined for a name. WHATWG
 * takes one trailing dot off an address, not two.
 */
export function literalAddress(hostname: string): string | undefined {
  const plain = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.+$/, '');
  return isIP(plain) === 0 ? undefined : plain;
}

/**
 * True for a name that belongs to this host or its own network. Names of one label count: no public site
 * has one, and a resolver would complete it with the local network's domain (`metadata`, `db`).
 */
export function isLocalName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.+$/, '');
  return (
    !name.includes('.') ||
    LOCAL_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))
  );
}

export const NOT_VALID =
  'The URL is not valid. It must be whole, such as https://example.com/page.';

/** Judges a URL before its name is resolved. @returns undefined if nothing speaks against it */
export function judgeUrl(url: URL | string, policy: EgressPolicy): UrlRefusal | undefined {
  const parsed = typeof url === 'string' ? URL.parse(url) : url;
  if (parsed === null) return { code: 'malformed', reason: NOT_VALID };
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    return { code: 'scheme', reason: 'Only http and https URLs can be fetched.' };
  }
  if (parsed.username !== '' || parsed.password !== '') {
    return { code: 'credentials', reason: 'A URL must not carry a user name or password.' };
  }
  if (policy.allowPrivateNetwork) return undefined;
  const address = literalAddress(parsed.hostname);
  if (address !== undefined && !isPublicAddress(address)) {
    return { code: 'private-address', reason: `The address ${address} is not public.` };
  }
  if (address === undefined && isLocalName(parsed.hostname)) {
    return { code: 'local-name', reason: `The name ${parsed.hostname} is not a public one.` };
  }
  const port = portOf(parsed);
  if (!PORTS.includes(port) && !policy.extraPorts.includes(port)) {
    return { code: 'port', reason: `Port ${port} is not one that pages may use.` };
  }
  return undefined;
}

const LIFTED_BY_SETTING: ReadonlySet<UrlRefusalCode> = new Set([
  'private-address',
  'local-name',
  'not-https',
]);

/** True where `ALLOW_PRIVATE_NETWORK` would allow the URL. */
export const isLiftedBySetting = ({ code }: UrlRefusal): boolean => LIFTED_BY_SETTING.has(code);

/** Judges the URL of a webhook: what is sent to it is personal, so that only development may do without TLS. */
export function judgeReceiver(url: URL | string, policy: EgressPolicy): UrlRefusal | undefined {
  const refused = judgeUrl(url, policy);
  const parsed = typeof url === 'string' ? URL.parse(url) : url;
  if (refused !== undefined || policy.allowPrivateNetwork || parsed?.protocol === 'https:') {
    return refused;
  }
  return { code: 'not-https', reason: 'Must begin with https://.' };
}

/** The port of an http or https URL; WHATWG leaves a default one out. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}
