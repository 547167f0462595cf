/** Networks in CIDR notation, and the addresses in them. IPv4 and IPv6 are apart; an IPv4 address in IPv6 is IPv4. */
import { isIPv4, isIPv6 } from 'node:net';

export interface Network {
  readonly width: 32 | 128;
  /** The network's own bits, the first ones of its addresses: a 0 or 1 each. */
  readonly prefix: string;
  /** The other bits of the address that was read. */
  readonly rest: string;
}

/** The first bits of IPv6 addresses that stand for IPv4 ones. */
const MAPPED = '0'.repeat(80) + '1'.repeat(16);

const bitsOf = (parts: readonly number[], size: number): string =>
  parts.map((part) => part.toString(2).padStart(size, '0')).join('');

/** An IPv6 address in its one form. It has no dotted part, unlike that of `SocketAddress`. */
const canonical = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);

function groupsOf(address: string): readonly number[] {
  const [head = [], tail = []] = canonical(address)
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}

/** Reads an address, or a network; undefined where it is neither. */
export function networkIn(text: string): Network | undefined {
  const [, address = '', length] = /^([\d.]+|[\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const width = isIPv4(address) ? 32 : isIPv6(address) ? 128 : undefined;
  if (width === undefined || Number(length) > width) return undefined;
  const bits =
    width === 32 ? bitsOf(address.split('.').map(Number), 8) : bitsOf(groupsOf(address), 16);
  const end = Number(length ?? width);
  const isMapped = bits.startsWith(MAPPED) && end >= MAPPED.length;
  const start = isMapped ? MAPPED.length : 0;
  return {
    width: isMapped ? 32 : width,
    prefix: bits.slice(start, end),
    rest: bits.slice(end),
  };
}

/** True where the network has bits beyond its prefix. */
export const hasBitsBeyond = ({ rest }: Network): boolean => rest.includes('1');

/** True where every address of `inner` is one of `outer`. */
export const contains = (outer: Network, inner: Network): boolean =>
  outer.width === inner.width && inner.prefix.startsWith(outer.prefix);

/** Writes a network as CIDR notation has it, in one form for each, without bits beyond its prefix. */
export function networkText({ width, prefix }: Network): string {
  const bits = prefix.padEnd(width, '0');
  const parts = (size: number): readonly number[] =>
    Array.from({ length: width / size }, (_, n) =>
      Number.parseInt(bits.slice(n * size, (n + 1) * size), 2),
    );
  const address =
    width === 32
      ? parts(8).join('.')
      : canonical(
          parts(16)
            .map((part) => part.toString(16))
            .join(':'),
        );
  return `${address}/${prefix.length}`;
}
