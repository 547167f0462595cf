import Type from 'typebox';

const closed = { additionalProperties: false } as const;

/** The body of `POST /auth/jwt/create/`. */
export const SignInRequest = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 320 }),
    password: Type.String({ minLength: 1, maxLength: 1024 }),
  },
  closed,
);

/** The body of `POST /auth/jwt/refresh/` and of `POST /auth/jwt/revoke/`. */
export const RefreshRequest = Type.Object(
  { refresh: Type.String({ minLength: 1, maxLength: 4096 }) },
  closed,
);
