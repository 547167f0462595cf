import Type from 'typebox';
import type { OperationDoc } from '../openapi/operation.ts';

const closed = { additionalProperties: false } as const;

/** The answer of `GET /healthz`. */
export const Alive = Type.Object({ status: Type.Literal('ok') }, closed);

/** The answer of `GET /readyz`. */
export const Ready = Type.Object({ status: Type.Literal('ready') }, closed);

export const healthzDoc: OperationDoc = {
  id: 'healthz',
  tag: 'Service',
  summary: 'Whether the process answers',
  answers: { 200: { description: 'It does.', schema: Alive } },
};

export const readyzDoc: OperationDoc = {
  id: 'readyz',
  tag: 'Service',
  summary: 'Whether it can accept and render',
  answers: { 200: { description: 'It can.', schema: Ready } },
  errors: {
    internal_error: { when: 'Something failed inside.' },
    service_unavailable: {
      when: 'Not yet, or no longer; details.missing says why.',
      message: 'Not ready: the renderer is starting.',
      details: { missing: ['the renderer is starting'] },
    },
  },
};

export const openApiDoc: OperationDoc = {
  id: 'openapi',
  tag: 'Service',
  summary: 'This interface as an OpenAPI 3.1 document',
  answers: {
    200: {
      description: 'The document.',
      schema: Type.Object({ openapi: Type.String({ examples: ['3.1.1'] }) }),
    },
  },
};

export const referencePageDoc: OperationDoc = {
  id: 'docs',
  tag: 'Service',
  summary: 'This interface as a page to read and to try',
  answers: { 200: { description: 'The page.', media: 'text/html' } },
};

export const referenceScriptDoc: OperationDoc = {
  id: 'docsScript',
  tag: 'Service',
  summary: 'The script of the page',
  answers: { 200: { description: 'The script.', media: 'text/javascript' } },
};
