import Type from 'typebox';
import { Timestamp } from './timestamp.ts';

const closed = { additionalProperties: false } as const;

const id = Type.String({
  pattern: '^key_[0-9a-z]{26}$',
  examples: ['key_3m5n7p9q1r3s5t7v9w1x3y5z7a'],
});
const name = Type.String({ minLength: 1, examples: ['build server'] });
const createdAt = Timestamp('When the key was made.');

/** One item of `GET /api-keys/`. */
export const ApiKey = Type.Object(
  {
    id,
    name,
    prefix: Type.String({
      minLength: 12,
      maxLength: 12,
      description: 'How the key begins.',
      examples: ['pk_live_Ab3d'],
    }),
    created_at: createdAt,
    last_used_at: Type.Union([Timestamp('At most a minute behind.'), Type.Null()], {
      description: 'null before the first use.',
    }),
  },
  closed,
);

/** The answer of `POST /api-keys/`. */
export const CreatedApiKey = Type.Object(
  {
    id,
    name,
    key: Type.String({
      pattern: '^pk_live_[0-9A-Za-z]{24}$',
      description: 'The full key: shown this once and never again.',
      examples: ['pk_live_Ab3dEf6hIj9lMn2pQr5tUv8x'],
    }),
    created_at: createdAt,
  },
  closed,
);
