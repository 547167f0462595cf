/** Arguments and options that several commands have. */
import type { Role } from '../config/settings.ts';
import { KEY_SCOPES } from '../domain/choices.ts';
import type { OptionSpec } from './command.ts';

export const DEFAULT_SERVER = 'http://localhost:8080';
export const ROLES: readonly Role[] = ['start', 'api', 'renderer'];
export const STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;

export const ORDERS = ['newest', 'oldest'] as const;
export const SOURCES = ['html', 'url', 'document'] as const;

/** Of what asks for conversions. */
export const TEST_OPTION: OptionSpec = {
  help: 'a test: it costs nothing, has a watermark and is deleted after a day',
};

/** The help of <email> in every command that takes it. */
export const ACCOUNT = "the account's sign-in address";
export const KEY_NAME = { value: 'name', help: 'a label for the key', needed: true };
/** What bounds a new API key. */
export const KEY_BOUNDS: Readonly<Record<string, OptionSpec>> = {
  scope: {
    value: 'scope',
    many: true,
    choices: KEY_SCOPES,
    help: `what the key may do: ${KEY_SCOPES.join(', ')} (default: all of them)`,
  },
  expires: { value: 'time', help: 'the time or the day (UTC) from which it is refused' },
  address: {
    value: 'network',
    many: true,
    help: 'an address or a network (CIDR) that it may be used from (default: everywhere)',
  },
  'rate-limit': { value: 'number', help: 'requests that it may send in a minute' },
  'credit-limit': { value: 'number', help: 'credits that it may use in a calendar month (UTC)' },
  test: { help: 'a key for tests: its conversions cost nothing and have a watermark' },
};
export const LIMIT = { value: 'number', help: 'show at most this many (default 20)' };
/** Of what an operator does to an account. */
export const REASON = {
  value: 'text',
  help: 'why, at most 500 characters; the account reads it in its history',
};
export const AS_OF = {
  value: 'moment',
  help: 'as it was then: an ISO 8601 time with its offset, or a position of the log',
};

/** The option of every command that prints a list. */
export const HEADER: OptionSpec = {
  help: 'name the columns also in a pipe or a file; on a terminal they always have names',
};

export const STORE_AS_OF = { ...AS_OF, help: `${AS_OF.help}; it opens the store for that` };

/** The options of every command that is a client of a service. */
export const SERVICE_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  server: {
    value: 'url',
    help: 'the service (default PRESSLEDGER_SERVER, or that of pressledger login)',
    heading: 'Service:',
  },
  'api-key-stdin': {
    help: 'read the API key from standard input',
    heading: 'Service:',
  },
  'api-key': {
    value: 'key',
    help: 'the API key; other users see it in ps, so prefer PRESSLEDGER_API_KEY',
    heading: 'Service:',
  },
};
