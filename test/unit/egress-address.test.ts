import fc from 'fast-check';
import { test } from 'tap';
import {
  type EgressPolicy,
  isLocalName,
  isPublicAddress,
  judgeUrl,
  literalAddress,
} from '../../src/egress/policy.ts';
import { LOCAL_NAMES, PRIVATE_SPELLINGS } from '../support/private-addresses.ts';

const strict: EgressPolicy = { allowPrivateNetwork: false, extraPorts: [] };
const open: EgressPolicy = { allowPrivateNetwork: true, extraPorts: [] };

// The special ranges once more, as first and last number: a second opinion in another notation.
const IPV4_RANGES: readonly (readonly [string, string])[] = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['168.63.129.16', '168.63.129.16'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.31.196.0', '192.31.196.255'],
  ['192.52.193.0', '192.52.193.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['192.175.48.0', '192.175.48.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
];

const toNumber = (ip: string): number =>
  ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const toIpv4 = (n: number): string =>
  [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255].join('.');
const expectedIpv4 = (n: number): boolean =>
  !IPV4_RANGES.some(([first, last]) => n >= toNumber(first) && n <= toNumber(last));

/** Eight groups of 16 bits. */
const expectedIpv6 = (groups: readonly number[]): boolean => {
  const [a = 0, b = 0, c = 0] = groups;
  if (a < 0x2000 || a > 0x3fff) return false;
  if (a === 0x2001 && b < 0x0200) return false;
  if (a === 0x2001 && b === 0x0db8) return false;
  if (a === 0x2002) return false;
  if (a === 0x2620 && b === 0x004f && c === 0x8000) return false;
  return !(a === 0x3fff && b < 0x1000);
};
const toIpv6 = (groups: readonly number[]): string => groups.map((g) => g.toString(16)).join(':');

void test('IPv4: every edge of every range', async (t) => {
  for (const [first, last] of IPV4_RANGES) {
    for (const n of [toNumber(first) - 1, toNumber(first), toNumber(last), toNumber(last) + 1]) {
      if (n < 0 || n > 0xffffffff) continue;
      t.equal(isPublicAddress(toIpv4(n)), expectedIpv4(n), toIpv4(n));
    }
  }
});

void test('IPv4 and IPv6: random addresses against the second table', async (t) => {
  const near = IPV4_RANGES.flatMap(([first, last]) => [toNumber(first), toNumber(last)]);
  const ipv4 = fc.oneof(
    fc.integer({ min: 0, max: 0xffffffff }),
    fc
      .tuple(fc.constantFrom(...near), fc.integer({ min: -300, max: 300 }))
      .map(([n, offset]) => Math.min(0xffffffff, Math.max(0, n + offset))),
  );
  fc.assert(
    fc.property(ipv4, (n) => isPublicAddress(toIpv4(n)) === expectedIpv4(n)),
    { numRuns: 5_000 },
  );
  const group = fc.integer({ min: 0, max: 0xffff });
  const head = fc.constantFrom(0, 0x64, 0x100, 0x2000, 0x2001, 0x2002, 0x2620, 0x3fff, 0xfe80);
  const second = fc.constantFrom(0, 1, 2, 0x1ff, 0x200, 0xdb8, 0x4f, 0xfff, 0x1000, 0xff9b);
  const ipv6 = fc.tuple(
    fc.oneof(group, head),
    fc.oneof(group, second),
    fc.oneof(group, fc.constantFrom(0, 0x8000)),
    ...Array.from({ length: 5 }, () => group),
  );
  fc.assert(
    fc.property(ipv6, (groups) => isPublicAddress(toIpv6(groups)) === expectedIpv6(groups)),
    { numRuns: 5_000 },
  );
  t.pass('no counterexample');
});

const forms = (n: number): readonly string[] => {
  const high = (n >>> 16).toString(16);
  const low = (n & 0xffff).toString(16);
  return [
    `::ffff:${toIpv4(n)}`,
    `::ffff:${high}:${low}`,
    `0:0:0:0:0:FFFF:${high}:${low}`,
    `::${toIpv4(n)}`,
    `::ffff:0:${toIpv4(n)}`,
    `64:ff9b::${high}:${low}`,
    `64:ff9b:1::${high}:${low}`,
    `2002:${high}:${low}::1`,
    `2001:0:${high}:${low}::1`,
  ];
};

void test('IPv4 inside IPv6 is never public, whatever it is', async (t) => {
  const quad = fc.integer({ min: 0, max: 0xffffffff });
  fc.assert(fc.property(quad, (n) => forms(n).every((ip) => !isPublicAddress(ip))));
  t.pass('no counterexample');
});

void test('public addresses are public, and what is not a plain address is not', async (t) => {
  for (const ip of ['8.8.8.8', '1.1.1.1', '93.184.216.34', '2606:4700::1111', '2a00:1450::1']) {
    t.ok(isPublicAddress(ip), ip);
  }
  for (const ip of [
    '',
    'example.com',
    '0x08080808',
    '8.8',
    '08.8.8.8',
    '2606:4700::1%eth0',
    '[::]',
  ]) {
    t.notOk(isPublicAddress(ip), ip);
  }
});

void test('every spelling of an address that is not public is refused', async (t) => {
  for (const url of PRIVATE_SPELLINGS) t.equal(judgeUrl(url, strict)?.code, 'private-address', url);
});

void test('names of this host and its network are refused', async (t) => {
  for (const name of LOCAL_NAMES) {
    t.equal(judgeUrl(`http://${name}/`, strict)?.code, 'local-name', name);
  }
  for (const name of ['example.com', 'local.example.com', 'localhost.example', 'mylocal.dev']) {
    t.notOk(isLocalName(name), name);
  }
});

void test('schemes, credentials, ports and malformed URLs', async (t) => {
  const code = (url: string, policy = strict) => judgeUrl(url, policy)?.code;
  for (const url of ['file:///etc/passwd', 'FILE:///etc/passwd', 'ftp://example.com/', 'data:,x']) {
    t.equal(code(url), 'scheme', url);
    t.equal(code(url, open), 'scheme', `${url}, also where everything else is open`);
  }
  t.equal(code('ws://example.com/'), 'scheme');
  t.equal(code('javascript:alert(1)'), 'scheme');
  t.equal(code('http://user@example.com/'), 'credentials');
  t.equal(code('http://:secret@example.com/'), 'credentials');
  t.equal(code('http://127.0.0.1@example.com/'), 'credentials');
  t.equal(code('http://example.com:22/'), 'port');
  t.equal(code('http://example.com:0/'), 'port');
  t.equal(code('https://example.com:6379/'), 'port');
  for (const url of [
    '',
    'example.com',
    'http://',
    'http://[fe80::1%25eth0]/',
    'http://1.2.3.4.5/',
  ]) {
    t.equal(code(url), 'malformed', url);
  }
  t.equal(code('http://256.0.0.1/'), 'malformed');
  for (const port of ['', ':80', ':443', ':8080', ':8443']) {
    t.equal(code(`https://example.com${port}/`), undefined, port);
  }
  t.equal(code('http://example.com:3000/', { ...strict, extraPorts: [3000] }), undefined);
});

void test('a private network may be allowed for development', async (t) => {
  for (const url of ['http://127.0.0.1:3000/', 'http://localhost:9/', 'http://[::1]/']) {
    t.equal(judgeUrl(url, open), undefined, url);
  }
});

void test('reasons are sentences that name what the client wrote', async (t) => {
  t.equal(
    judgeUrl(new URL('http://0x7f.1/'), strict)?.reason,
    'The address 127.0.0.1 is not public.',
  );
  t.equal(judgeUrl('http://a.com:21/', strict)?.reason, 'Port 21 is not one that pages may use.');
});

void test('literalAddress takes brackets off and knows names from addresses', async (t) => {
  t.equal(literalAddress('[::1]'), '::1');
  t.equal(literalAddress('10.0.0.1'), '10.0.0.1');
  t.equal(literalAddress('example.com'), undefined);
});
