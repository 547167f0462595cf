/** Events of the log itself. They are a storage format, as those in `events.ts`. */
import Type from 'typebox';
import { Count, Origin, Time } from './event-fields.ts';

export const LOG_EVENT_SCHEMAS = {
  LogOpened: Type.Object({
    origin: Type.String({ pattern: '^pressledger/[0-9a-f]{16}$' }),
    /** The id of the keyring that opens what is sealed in this log. Logs begun before there were ids lack it. */
    keyring: Type.Optional(Type.String({ pattern: '^[0-9a-f]{32}$' })),
  }),
  /** The operator chose another name before the first checkpoint. Keys of the old name are void. */
  LogRenamed: Type.Object({ origin: Origin }),
  /** The log was restored to an earlier state than was signed, and goes on under a new name. Older keys are void. */
  LogContinued: Type.Object({
    origin: Type.String({ pattern: '^pressledger/[0-9a-f]{16}$' }),
    /** The name before. What it has signed may cover events that are not in this log. */
    formerOrigin: Origin,
    /** The newest checkpoint of that name that was known, as it was signed. */
    checkpoint: Type.Optional(Type.String({ minLength: 1 })),
    at: Time,
  }),
  /** A key of c2sp.org/signed-note. The two newest sign. A pair follows from master key and generation. */
  SigningKeyAdded: Type.Object({
    generation: Count,
    verifierKey: Type.String({ pattern: '^[!-*,-~]{1,200}\\+[0-9a-f]{8}\\+[A-Za-z0-9+/]{44}$' }),
    addedAt: Time,
  }),
  CheckpointSigned: Type.Object({
    /** The number of events that it covers, from the log's first on. */
    size: Count,
    /** The root hash of the tree of these events. */
    root: Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$' }),
    /** https://c2sp.org/tlog-checkpoint */
    note: Type.String({ minLength: 1 }),
    signedAt: Time,
  }),
  CheckpointCosigned: Type.Object({
    size: Count,
    /** Signature lines of witnesses, without line breaks. */
    signatures: Type.Array(Type.String({ pattern: '^— [^\\s+]+ [A-Za-z0-9+/]+={0,2}$' }), {
      minItems: 1,
    }),
    at: Time,
  }),
  CheckpointTimestamped: Type.Object({
    size: Count,
    /** RFC 3161, DER. */
    token: Type.String({ pattern: '^[A-Za-z0-9+/]+={0,2}$' }),
    at: Time,
  }),
  /** The service sends mail from then on, or no more. What happens while it does not is never mailed. */
  MailSwitched: Type.Object({ on: Type.Boolean(), at: Time }),
} as const;
