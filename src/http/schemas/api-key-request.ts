import Type from 'typebox';

/** The body of `POST /api-keys/`. The bounds of the name count after trimming: see `createApiKey`. */
export const ApiKeyRequest = Type.Object(
  {
    name: Type.String({
      description:
        'A label, 1 to 100 characters after trimming: no control characters, line breaks or marks of text direction.',
    }),
  },
  { additionalProperties: false },
);
