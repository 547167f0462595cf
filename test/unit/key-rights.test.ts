import { test } from 'tap';
import {
  assertWithin,
  isAllowedAddress,
  networkOf,
  type OpenRights,
} from '../../src/accounts/key-rights.ts';
import type { ServiceError } from '../../src/errors/errors.ts';

const read = (
  text: string,
): readonly [network: string | undefined, problem: string | undefined] => {
  let problem: string | undefined;
  const network = networkOf(text, (said) => {
    problem = said;
  });
  return [network, problem];
};

void test('a network has one form', (t) => {
  const forms: [given: string, network: string][] = [
    ['203.0.113.7', '203.0.113.7/32'],
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::/0', '::/0'],
    ['2001:DB8:0:0::/32', '2001:db8::/32'],
    ['2001:db8::1', '2001:db8::1/128'],
    ['::ffff:203.0.113.7', '203.0.113.7/32'],
    ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
    ['::ffff:cb00:7107', '203.0.113.7/32'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8/128'],
  ];
  for (const [given, network] of forms) t.strictSame(read(given), [network, undefined], given);
  t.end();
});

void test('what is not a network is refused', (t) => {
  const wrong = [
    '',
    'x',
    '203.0.113',
    '203.0.113.0/33',
    '::/129',
    '203.0.113.0/',
    '203.0.113.0/-1',
  ];
  const more = [
    'fe80::1%eth0',
    '0x7f.1',
    '2130706433',
    '203.0.113.0/24/24',
    ' 203.0.113.0',
    '1.2.3.04',
  ];
  for (const each of [...wrong, ...more]) {
    const [network, problem] = read(each);
    t.equal(network, undefined, each);
    t.match(problem, /^Must be an address or a network in CIDR notation/, each);
  }
  t.match(read('203.0.113.7/24')[1], /the network is 203\.0\.113\.0\/24\.$/);
  t.match(read('2001:db8::1/64')[1], /the network is 2001:db8::\/64\.$/);
  t.end();
});

void test('an address is in its network, however it is written', (t) => {
  const key: OpenRights = { addresses: ['203.0.113.0/24', '2001:db8::/32'] };
  const inside = ['203.0.113.0', '203.0.113.255', '::ffff:203.0.113.9', '2001:db8:ffff::1'];
  for (const each of inside) t.ok(isAllowedAddress(key, each), each);
  const outside = [
    '203.0.112.255',
    '203.0.114.0',
    '2001:db9::',
    '::1',
    'unknown',
    '',
    '::203.0.113.9',
  ];
  for (const each of outside) t.notOk(isAllowedAddress(key, each), each);
  t.ok(isAllowedAddress({}, 'unknown'), 'a key for everywhere');
  t.notOk(isAllowedAddress({ addresses: ['::/0'] }, '203.0.113.9'), 'IPv4 is not IPv6');
  t.ok(isAllowedAddress({ addresses: ['0.0.0.0/0'] }, '::ffff:1.2.3.4'));
  t.end();
});

const beyond = (own: OpenRights, asked: OpenRights): readonly string[] => {
  try {
    assertWithin(own, asked);
    return [];
  } catch (error) {
    return Object.keys((error as ServiceError).details ?? {});
  }
};

void test('a key makes none that may do more than itself', (t) => {
  const own: OpenRights = {
    scopes: ['read', 'keys'],
    expiresAt: 1000,
    addresses: ['203.0.113.0/24'],
  };
  const bounded: OpenRights = { scopes: ['read'], expiresAt: 1000, addresses: ['203.0.113.9/32'] };
  t.strictSame(beyond(own, bounded), []);
  t.strictSame(beyond(own, own), []);
  t.strictSame(beyond({}, {}), []);
  t.strictSame(beyond(own, {}), ['scopes', 'expires_at', 'addresses']);
  t.strictSame(beyond(own, { ...bounded, scopes: ['read', 'convert'] }), ['scopes']);
  t.strictSame(beyond(own, { ...bounded, expiresAt: 1001 }), ['expires_at']);
  for (const wider of ['203.0.112.0/23', '203.0.114.1/32', '::/0', '::ffff:0:0/95']) {
    t.strictSame(beyond(own, { ...bounded, addresses: ['203.0.113.1/32', wider] }), ['addresses']);
  }
  t.strictSame(beyond({ rateLimit: 5 }, { rateLimit: 1 }), ['rate_limit']);
  t.end();
});
