import Type from 'typebox';

/** The answer of `POST /auth/jwt/create/` and of `POST /auth/jwt/refresh/`. */
export const TokenPair = Type.Object(
  {
    access: Type.String({
      description: 'Sent as Authorization: Bearer … for 5 minutes.',
      examples: ['eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.…'],
    }),
    refresh: Type.String({
      description: 'Gets new access tokens for a day, unless it is signed out.',
      examples: ['eyJhbGciOiJFZERTQSIsInR5cCI6InJ0K2p3dCJ9.…'],
    }),
  },
  { additionalProperties: false },
);
