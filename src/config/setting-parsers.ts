/** Turns the text of a setting into its value. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlanSetting, Plans } from '../accounts/rate-limits.ts';
import { parseS3Url } from '../documents/s3-location.ts';
import { PLAN_NAME, PLANS } from '../domain/choices.ts';
import { isEmailAddress } from '../domain/email.ts';
import { ACCOUNT_ID } from '../domain/ids.ts';
import { errorMessage } from '../errors/error-message.ts';
import { parseConnectionString } from '../event-store/kurrentdb/connection-string.ts';
import {
  type MailSender,
  parseMailSender,
  parseSmtpUrl,
  type SmtpServer,
} from '../mail/address.ts';
import { parseNatsUrl } from '../nats/address.ts';
import { COSIGNATURE, parseVerifierKey } from '../transparency-log/signed-note.ts';

/** A value that cannot be used. The message goes on after the setting's name. */
export class UnusableValue extends Error {
  override readonly name = 'UnusableValue';
}

/** @throws {UnusableValue} */
export type Parse<T> = (value: string) => T;

function refuse(value: string, wanted: string): never {
  throw new UnusableValue(`must be ${wanted}; it is ${JSON.stringify(value)}.`);
}

export function integer(min: number, max: number): Parse<number> {
  return (value) => {
    const number = Number(value);
    if (!/^[0-9]+$/.test(value) || number < min || number > max) {
      refuse(value, `a whole number from ${min} to ${max}`);
    }
    return number;
  };
}

export const boolean: Parse<boolean> = (value) => {
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  return refuse(value, 'true or false');
};

export const text: Parse<string> = (value) => value;

export function oneOf<const T extends string>(values: readonly T[]): Parse<T> {
  return (value) =>
    values.find((each) => each === value) ?? refuse(value, `one of ${values.join(', ')}`);
}

/** Refuses with the text of the parser's error. */
function parsedBy<T>(parse: Parse<T>): Parse<T> {
  return (value) => {
    try {
      return parse(value);
    } catch (error) {
      // It begins with the setting's plain name. The name that was given may have the prefix.
      throw new UnusableValue(errorMessage(error).replace(/^\w+ /, ''));
    }
  };
}

/** Keeps the text, and says now what is wrong with it: what opens it does so after others. */
const checked = (check: (value: string) => unknown): Parse<string> =>
  parsedBy((value) => {
    check(value);
    return value;
  });

export const smtpServer: Parse<SmtpServer> = parsedBy(parseSmtpUrl);
export const mailSender: Parse<MailSender> = parsedBy(parseMailSender);
export const eventStoreUrl = checked(parseConnectionString);
export const natsUrl = checked(parseNatsUrl);
const s3Url = checked(parseS3Url);

/** An http(s) origin, without a path, so that paths can be appended to it. */
export const origin: Parse<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const plain =
    url !== undefined &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '' &&
    url.password === '';
  return plain
    ? url.origin
    : refuse(value, 'an http or https origin such as https://pdf.example.com');
};

/** The pages that may call the API. `*` beside others would make them meaningless. */
export const origins: Parse<readonly string[]> = (value) => {
  const each = list(value);
  return each.length === 1 && each[0] === '*' ? each : each.map((part) => origin(part));
};

/** A URL to send requests to. One that cannot be used is not repeated: it may hold a password. */
export const httpUrl: Parse<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (isHttp && url.username + url.password + url.hash === '') return value;
  throw new UnusableValue('must be an http or https URL, without user name, password and #.');
};

const LOOPBACK_HOST = /^(localhost|127\.[\d.]+|\[::1\])$/;

/** The issuer of an OpenID provider: over HTTPS, or on this machine. */
export const issuerUrl: Parse<string> = (value) => {
  const { protocol, hostname, search } = new URL(httpUrl(value));
  if ((protocol === 'https:' || LOOPBACK_HOST.test(hostname)) && search === '') return value;
  return refuse(value, 'an https URL without a question mark; http is for this machine alone');
};

/** Texts separated by commas. */
export const list: Parse<readonly string[]> = (value) =>
  value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

const DOMAIN = /^[^\s@*,/:]+\.[^\s@*,/:]+$/;

/** Domains of addresses; `*` beside others would make them meaningless. */
export const domains: Parse<readonly string[]> = (value) => {
  const each = list(value).map((domain) => domain.toLowerCase());
  return (each.length === 1 && each[0] === '*') || each.every((domain) => DOMAIN.test(domain))
    ? each
    : refuse(value, 'domains separated by commas, such as example.com, or * alone');
};

/** An account, by its address or its id. */
export const accountName: Parse<string> = (value) =>
  isEmailAddress(value) || new RegExp(`^${ACCOUNT_ID}$`).test(value)
    ? value
    : refuse(value, 'the address or the id of an account');

/** Scopes of OAuth, with the one that makes it a sign-in. */
export const scopes: Parse<string> = (value) =>
  value.split(/\s+/).includes('openid')
    ? value.trim()
    : refuse(value, 'scopes with spaces between, openid among them');

export interface WitnessSetting {
  /** The key of its Ed25519 cosignatures. */
  readonly verifierKey: string;
  /** The prefix of its URLs, without a slash at its end. */
  readonly url: string;
}

/** Pairs of key and URL, separated by commas or line breaks. */
export const witnesses: Parse<readonly WitnessSetting[]> = (value) => {
  const pairs = value.split(/[,\n]/).map((pair) => pair.trim());
  const all = pairs.filter((pair) => pair !== '').map(witness);
  const names = all.map(({ verifierKey }) => parseVerifierKey(verifierKey).name);
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  if (twice !== undefined) {
    throw new UnusableValue(`must be one key for each witness; ${twice} has two.`);
  }
  return all;
};

function witness(pair: string): WitnessSetting {
  const [verifierKey = '', url = '', ...rest] = pair.split(/\s+/);
  if (url === '' || rest.length > 0) {
    throw new UnusableValue(
      'must be pairs of a verifier key and a URL with a space between, separated by commas.',
    );
  }
  try {
    if (parseVerifierKey(verifierKey).type !== COSIGNATURE) {
      throw new Error('That is the key of a log.');
    }
  } catch (error) {
    throw new UnusableValue(
      `must be keys of Ed25519 cosignatures; one is ${JSON.stringify(verifierKey)}. ${errorMessage(error)}`,
    );
  }
  const prefix = httpUrl(url).replace(/\/+$/, '');
  if (prefix.includes('?')) throw new UnusableValue('must be URLs without a question mark.');
  return { verifierKey, url: prefix };
}

export const ports: Parse<readonly number[]> = (value) =>
  list(value).map((each) => integer(1, 65_535)(each));

/** The place of documents and keys that nodes share. */
export type BlobPlace =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'nats' }
  | { readonly kind: 's3'; readonly url: string };

/** A value that cannot be used is not repeated: it may hold a password. */
export const blobPlace: Parse<BlobPlace> = (value) => {
  if (value === 'nats:') return { kind: 'nats' };
  if (value.startsWith('s3://')) return { kind: 's3', url: s3Url(value) };
  if (/^file:\/\/\/./.test(value)) return { kind: 'folder', path: resolve(fileURLToPath(value)) };
  if (/^file:(?!\/\/)./.test(value)) return { kind: 'folder', path: resolve(value.slice(5)) };
  throw new UnusableValue('must be file:PATH, nats: or s3://bucket?region=…&endpoint=….');
};

/** 32 bytes. A value that cannot be used is not repeated: it may be most of a secret. */
export const key32: Parse<Buffer> = (value) => {
  if (/^[0-9a-f]{64}$/i.test(value)) return Buffer.from(value, 'hex');
  // Node skips what is not base64, so a pass phrase could pass for a key.
  if (/^[\w+/-]{43}=?$/.test(value)) return Buffer.from(value, 'base64');
  throw new UnusableValue('must be 32 bytes, as 64 hex digits or in base64.');
};

export const emailAddress: Parse<string> = (value) =>
  value === '' || isEmailAddress(value)
    ? value
    : refuse(value, 'an email address, or empty for none');

/** A name that signed notes allow. */
export const logOrigin: Parse<string> = (value) =>
  /^[!-*,-~]{1,200}$/.test(value)
    ? value
    : refuse(value, 'at most 200 printable ASCII characters without spaces and +');

function wrongPlans(why: string): never {
  throw new UnusableValue(
    `must be JSON such as {"team": {"rate_limit": 300, "credits_monthly": 5000}}: ${why}`,
  );
}

const isObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

function planNumber(name: string, field: string, given: unknown, most: number): number {
  const isFit = typeof given === 'number' && Number.isInteger(given) && given >= 1 && given <= most;
  return isFit ? given : wrongPlans(`${name}.${field} is not a whole number from 1 to ${most}.`);
}

/** Plans beside those that are always there, and credits that a plan gives each month: JSON. */
export const plans: Parse<Plans> = (value) => {
  let json: unknown;
  try {
    json = JSON.parse(value);
  } catch (error) {
    return wrongPlans(`${errorMessage(error)}.`);
  }
  if (!isObject(json)) return wrongPlans('it is not an object.');
  const known: readonly string[] = PLANS;
  return new Map(
    Object.entries(json).map(([name, given]): [string, PlanSetting] => {
      if (!new RegExp(`^${PLAN_NAME}$`).test(name)) {
        return wrongPlans(
          `${JSON.stringify(name)} is not a name of lower case letters, digits, - and _.`,
        );
      }
      if (!isObject(given)) return wrongPlans(`${name} is not an object.`);
      const { rate_limit: rate, credits_monthly: monthly, ...others } = given;
      const [other] = Object.keys(others);
      if (other !== undefined) return wrongPlans(`${name}.${other} is unknown.`);
      if (known.includes(name) && rate !== undefined) {
        return wrongPlans(`set the rate limit of ${name} with RATE_LIMIT_${name.toUpperCase()}.`);
      }
      if (!known.includes(name) && rate === undefined)
        return wrongPlans(`${name}.rate_limit is missing.`);
      return [
        name,
        {
          ...(rate !== undefined && { rateLimit: planNumber(name, 'rate_limit', rate, 1e9) }),
          ...(monthly !== undefined && {
            creditsMonthly: planNumber(name, 'credits_monthly', monthly, 1e12),
          }),
        },
      ];
    }),
  );
};
