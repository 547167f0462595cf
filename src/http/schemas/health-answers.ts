import Type from 'typebox';

const closed = { additionalProperties: false } as const;

/** The answer of `GET /healthz`. */
export const Alive = Type.Object({ status: Type.Literal('ok') }, closed);

/** The answer of `GET /readyz`. */
export const Ready = Type.Object({ status: Type.Literal('ready') }, closed);
