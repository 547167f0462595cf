/** Reads the connection string of an event store server. */
import { readFileSync } from 'node:fs';

export interface ConnectionString {
  readonly hosts: readonly { readonly address: string; readonly port: number }[];
  /** The one host is a DNS name of a whole cluster. */
  readonly discover: boolean;
  readonly tls: boolean;
  /** False accepts any certificate. */
  readonly verify: boolean;
  readonly certificates: {
    readonly rootCertificate?: Buffer;
    readonly userCertFile?: Buffer;
    readonly userKeyFile?: Buffer;
  };
  readonly user: { readonly username: string; readonly password: string } | undefined;
  /** Precedes every stream name, where others use the server too; empty on a server of our own. */
  readonly namespace: string;
  readonly settings: Readonly<Record<string, number>>;
}

// Before version 25 the server and its scheme were called EventStoreDB and esdb.
const FORM =
  /^(?:esdb|kurrentdb|kurrent|kdb)(\+discover)?:\/\/(?:([^@]*)@)?([^@/?]+)\/?(?:\?(.*))?$/i;
const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]\s]+)(?::(\d{1,5}))?$/i;
const DEFAULT_PORT = 2113;

const FLAGS = ['tls', 'tlsVerifyCert'] as const;
const FILES = {
  tlsCAFile: 'rootCertificate',
  userCertFile: 'userCertFile',
  userKeyFile: 'userKeyFile',
} as const;
const NUMBERS = [
  'maxDiscoverAttempts',
  'discoveryInterval',
  'gossipTimeout',
  'keepAliveInterval',
  'keepAliveTimeout',
] as const;
const NAMES = [...FLAGS, ...Object.keys(FILES), ...NUMBERS, 'namespace', 'nodePreference'];

/** @throws {TypeError} one line that says what is wrong with it, without its password */
export function parseConnectionString(url: string): ConnectionString {
  const [, discover, user, hosts = '', query = ''] =
    FORM.exec(url.trim()) ??
    wrong('must look like esdb://host:2113?tls=false or kurrentdb+discover://user:password@host');
  const parameters = readParameters(query);
  if ((parameters.get('nodepreference') ?? 'leader') !== 'leader') {
    wrong('can have no nodePreference but leader: another node may not know the last event yet');
  }
  const file = (name: keyof typeof FILES): Record<string, Buffer> => {
    const path = parameters.get(name.toLowerCase());
    return path === undefined ? {} : { [FILES[name]]: readCertificate(name, path) };
  };
  const named = hosts.split(',').map(readHost);
  if (discover !== undefined && named.length > 1) {
    wrong(
      'has +discover, which takes one DNS name of the whole cluster: remove +discover to name several hosts',
    );
  }
  return {
    hosts: named,
    discover: discover !== undefined,
    tls: flag(parameters, 'tls'),
    verify: flag(parameters, 'tlsVerifyCert'),
    certificates: { ...file('tlsCAFile'), ...file('userCertFile'), ...file('userKeyFile') },
    user: user === undefined ? undefined : readUser(user),
    namespace: readNamespace(parameters.get('namespace')),
    settings: readNumbers(parameters),
  };
}

/** The servers, for messages. */
export const serversOf = ({ hosts }: ConnectionString): string =>
  hosts.map(({ address, port }) => `${address}:${port}`).join(', ');

function readParameters(query: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [given, value] of new URLSearchParams(query)) {
    const name = given.toLowerCase();
    if (!NAMES.some((known) => known.toLowerCase() === name)) {
      wrong(`has the unknown parameter ${given}: there are ${NAMES.join(', ')}`);
    }
    parameters.set(name, value.trim());
  }
  return parameters;
}

function readHost(host: string): { address: string; port: number } {
  const [, address, port = DEFAULT_PORT] = HOST.exec(host.trim()) ?? [];
  if (address === undefined || Number(port) > 65_535) {
    return wrong(`names the server '${host}', which is not of the form host:port`);
  }
  return { address, port: Number(port) };
}

function readUser(text: string): { username: string; password: string } {
  const colon = text.indexOf(':');
  if (colon < 1) return wrong('must give credentials as user:password');
  try {
    return {
      username: decodeURIComponent(text.slice(0, colon)),
      password: decodeURIComponent(text.slice(colon + 1)),
    };
  } catch {
    return wrong('has credentials that are not percent-encoded (write % as %25, @ as %40)');
  }
}

function readNamespace(name: string | undefined): string {
  if (name === undefined) return '';
  if (!/^[a-z0-9_]{1,40}$/.test(name)) {
    wrong('has a namespace that is not of 1 to 40 of the characters a-z, 0-9 and _');
  }
  return name;
}

function flag(parameters: ReadonlyMap<string, string>, name: (typeof FLAGS)[number]): boolean {
  const value = parameters.get(name.toLowerCase()) ?? 'true';
  if (value !== 'true' && value !== 'false') wrong(`must have ${name}=true or ${name}=false`);
  return value === 'true';
}

function readNumbers(parameters: ReadonlyMap<string, string>): Record<string, number> {
  const entries = NUMBERS.flatMap((name) => {
    const value = parameters.get(name.toLowerCase());
    if (value === undefined) return [];
    if (!/^(-1|[1-9]\d{0,8})$/.test(value)) wrong(`must have a whole number as ${name}`);
    return [[name, Number(value)] as const];
  });
  return Object.fromEntries(entries);
}

function readCertificate(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return wrong(`names a ${name} that cannot be read: ${path}`);
  }
}

function wrong(problem: string): never {
  throw new TypeError(`EVENT_STORE_URL ${problem}.`);
}
