/** The schemas of fields that events of several kinds have. */
import Type from 'typebox';
import {
  ACCOUNT_ID,
  BATCH_ID,
  CONVERSION_ID,
  DELIVERY_ID,
  KEY_ID,
  SESSION_ID,
  WEBHOOK_ID,
} from './ids.ts';

/** Ciphertext of a personal field; only the keyring's `unseal` reads it. */
export const Sealed = Type.String({ minLength: 1, isSealed: true });

export const AccountId = Type.String({ pattern: `^${ACCOUNT_ID}$` });
export const ConversionId = Type.String({ pattern: `^${CONVERSION_ID}$` });
export const BatchId = Type.String({ pattern: `^${BATCH_ID}$` });
export const KeyId = Type.String({ pattern: `^${KEY_ID}$` });
export const SessionId = Type.String({ pattern: `^${SESSION_ID}$` });
export const WebhookId = Type.String({ pattern: `^${WEBHOOK_ID}$` });
export const DeliveryId = Type.String({ pattern: `^${DELIVERY_ID}$` });
export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
/** The name of a log in checkpoints and keys, as signed notes allow it: without spaces and plus. */
export const Origin = Type.String({ pattern: '^[!-*,-~]{1,200}$' });
/**
 * Upper bounds hold for what is written: a number that the read model cannot store as an integer would stop
 * every projection on every node. What is stored already is read without them.
 */
export const maximum = Number.MAX_SAFE_INTEGER;
/** Milliseconds since the Unix epoch, as far as a `Date` reaches. */
export const Time = Type.Integer({ minimum: 0, maximum: 8.64e15 });
/** From 1. */
export const Count = Type.Integer({ minimum: 1, maximum });
