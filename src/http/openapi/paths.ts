/** What the `{id}` of a path names: so each route with one has the same parameter and the same error. */
import {
  ACCOUNT,
  BATCH,
  CONVERSION,
  DELIVERY,
  PASSKEY,
  PERSON,
  TEMPLATE,
  Text,
  WEBHOOK,
} from './fields.ts';
import type { ErrorDoc, ParameterDoc } from './operation.ts';

interface Named {
  readonly parameter: ParameterDoc;
  readonly missing: ErrorDoc;
}

const named = (name: string, example: string, when: string, message: string): Named => ({
  parameter: {
    name: 'id',
    in: 'path',
    description: `The id of the ${name}.`,
    schema: Text(example),
  },
  missing: { when, message },
});

/** By the part of the path before it. */
const NAMED: Readonly<Record<string, Named>> = {
  conversions: named(
    'conversion',
    CONVERSION,
    'The account has no conversion with this id.',
    'There is no such conversion.',
  ),
  files: named(
    'conversion',
    CONVERSION,
    'There is no file with this id.',
    'There is no such file.',
  ),
  batches: named(
    'batch',
    BATCH,
    'The account has no batch with this id.',
    'There is no such batch.',
  ),
  'api-keys': named(
    'key',
    'key_3m5n7p9q1r3s5t7v9w1x3y5z7a',
    'The account has no key with this id, or it was revoked before.',
    'There is no such API key.',
  ),
  members: named(
    'member or invitation',
    PERSON,
    'Nobody with this id belongs to the account, and no invitation has it.',
    'There is no such member.',
  ),
  templates: named(
    'template',
    TEMPLATE,
    'The account has no template with this id, or it was deleted.',
    'There is no such template.',
  ),
  passkeys: named(
    'passkey',
    PASSKEY,
    'You have no passkey with this id.',
    'There is no such passkey.',
  ),
  webhooks: named(
    'webhook endpoint',
    WEBHOOK,
    'The account has no webhook endpoint with this id.',
    'There is no such webhook endpoint.',
  ),
  deliveries: named(
    'delivery',
    DELIVERY,
    'The account has no delivery with this id, or its endpoint was deleted.',
    'There is no such delivery.',
  ),
  sessions: named(
    'session',
    'sess_06f3k8r1v2w9x4y5z6a7b8c9d0',
    'The account has no session with this id, or it has ended before.',
    'There is no such session.',
  ),
  'sign-ups': named(
    'link',
    ACCOUNT,
    'There is no link with this id, or it was used, was revoked or has expired.',
    'There is no such link.',
  ),
  accounts: named(
    'account',
    ACCOUNT,
    'There is no account with this id, or it was erased.',
    'There is no such account.',
  ),
};

export function namedBy(path: string): Named | undefined {
  const [, folder = ''] = /\/([\w-]+)\/\{id\}/.exec(path) ?? [];
  return NAMED[folder];
}
