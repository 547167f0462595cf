/** Networks in CIDR notation, and the addresses in them. IPv4 and IPv6 are apart; an IPv4 address in IPv6 is IPv4. */
import { isIPv4, isIPv6, SocketAddress } from 'node:net';

export interface Network {
  readonly width: 32 | 128;
  /** The address as a number. */
  readonly address: bigint;
  /** How many of its bits are the network's. */
  readonly length: number;
}

/** The prefix of IPv6 addresses that stand for IPv4 ones. */
const MAPPED = 0xffffn;

const fromIpv4 = (text: string): bigint =>
  text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);

const groups = (part: string): readonly string[] => (part === '' ? [] : part.split(':'));

function fromIpv6(text: string): bigint {
  const { address } = new SocketAddress({ family: 'ipv6', address: text });
  const dotted = /[\d.]+$/.exec(address)?.[0] ?? '';
  const low = isIPv4(dotted) ? fromIpv4(dotted) : undefined;
  const hex =
    low === undefined
      ? address
      : `${address.slice(0, -dotted.length)}${(low >> 16n).toString(16)}:${(low & MAPPED).toString(16)}`;
  const [head = '', tail = ''] = hex.split('::');
  const [front, back] = [groups(head), groups(tail)];
  const zeros = hex.includes('::') ? Array<string>(8 - front.length - back.length).fill('0') : [];
  return [...front, ...zeros, ...back].reduce(
    (sum, each) => sum * 65_536n + BigInt(`0x${each}`),
    0n,
  );
}

/** Reads an address, or a network; undefined where it is neither. Its bits beyond the prefix are kept. */
export function networkIn(text: string): Network | undefined {
  const [, address = '', bits] = /^([\d.]+|[\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const width = isIPv4(address) ? 32 : isIPv6(address) ? 128 : undefined;
  if (width === undefined) return undefined;
  const length = Number(bits ?? width);
  if (length > width) return undefined;
  const value = width === 32 ? fromIpv4(address) : fromIpv6(address);
  return width === 128 && value >> 32n === MAPPED && length >= 96
    ? { width: 32, address: value & 0xffff_ffffn, length: length - 96 }
    : { width, address: value, length };
}

const front = ({ width, address }: Network, length: number): bigint =>
  address >> BigInt(width - length);

/** The network without the bits beyond its prefix. */
export const masked = (network: Network): Network => {
  const rest = BigInt(network.width - network.length);
  return { ...network, address: (network.address >> rest) << rest };
};

/** True where every address of `inner` is one of `outer`. */
export const contains = (outer: Network, inner: Network): boolean =>
  outer.width === inner.width &&
  outer.length <= inner.length &&
  front(outer, outer.length) === front(inner, outer.length);

/** Writes a network as CIDR notation has it, in one form for each. */
export function networkText({ width, address, length }: Network): string {
  const size = width === 32 ? 8 : 16;
  const parts = Array.from({ length: width / size }, (_, n) =>
    Number((address >> BigInt(width - size * (n + 1))) & BigInt(2 ** size - 1)),
  );
  const text =
    width === 32
      ? parts.join('.')
      : new SocketAddress({
          family: 'ipv6',
          address: parts.map((part) => part.toString(16)).join(':'),
        }).address;
  return `${text}/${length}`;
}
