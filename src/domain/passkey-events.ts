/** Events of passkeys, in the stream of their person. They are a storage format, as those in `events.ts`. */
import Type from 'typebox';
import { AccountId, maximum, PasskeyId, PersonId, Sealed, Sha256, Time } from './event-fields.ts';

/** The account is the one in which it was done; absent: the operator did it. */
const OF_PASSKEY = {
  personId: PersonId,
  accountId: Type.Optional(AccountId),
  passkeyId: PasskeyId,
};
/** The number of signatures that the passkey says it has made; 0 where it does not count. */
const Counter = Type.Integer({ minimum: 0, maximum });
/** SHA-256 of the challenge that was signed, hex: none is taken twice. */
const Challenge = Sha256;

/** Texts that are `Sealed` here are sealed with the key of their person: they go when the person is erased. */
export const PASSKEY_EVENT_SCHEMAS = {
  /** The id is made from a keyed hash of the credential's, so that it is found by it and tells nothing of it. */
  PasskeyAdded: Type.Object({
    ...OF_PASSKEY,
    credential: Sealed,
    publicKey: Sealed,
    name: Sealed,
    counter: Counter,
    challenge: Challenge,
    addedAt: Time,
  }),
  PasskeyRenamed: Type.Object({ ...OF_PASSKEY, name: Sealed }),
  PasskeyUsed: Type.Object({
    ...OF_PASSKEY,
    counter: Counter,
    challenge: Challenge,
    usedAt: Time,
  }),
  /** The signature was right and its counter had gone back: there may be a copy of the passkey. */
  PasskeyRefused: Type.Object({ ...OF_PASSKEY, counter: Counter, refusedAt: Time }),
  PasskeyRemoved: Type.Object(OF_PASSKEY),
} as const;
