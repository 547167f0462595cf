/** Secrets and signatures of Standard Webhooks (https://www.standardwebhooks.com). */
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { NewSecret } from '../domain/webhooks.ts';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';
const SHOWN_CHARACTERS = PREFIX.length + 4;

/** A secret that is not sealed yet, and the part of it that may be shown. */
export function newSecret(): NewSecret {
  const secret = PREFIX + randomBytes(SECRET_BYTES).toString('base64');
  return { secret, secretPrefix: secret.slice(0, SHOWN_CHARACTERS) };
}

/**
 * The headers of one try.
 * @param id the same for all tries of a delivery
 * @param secrets each signs: a receiver accepts any of them
 */
export function signatureHeaders(
  id: string,
  at: number,
  body: string,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const time = new Date(at);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': secrets
      .map((secret) => new Webhook(secret).sign(id, time, body))
      .join(' '),
  };
}
