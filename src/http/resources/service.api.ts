import Type from 'typebox';
import type { AnswerDoc, OperationDoc } from '../openapi/operation.ts';

const closed = { additionalProperties: false } as const;

/** The answer of `GET /healthz`. */
export const Alive = Type.Object({ status: Type.Literal('ok') }, closed);

/** The answer of `GET /readyz`. */
export const Ready = Type.Object(
  {
    status: Type.Literal('ready'),
    leads: Type.Optional(
      Type.Boolean({
        examples: [true],
        description:
          'True on the one node that feeds the render queue and records what comes of the jobs.',
      }),
    ),
  },
  closed,
);

/** The message where the set-up could not build a part that is served as a file. */
export const NOT_BUILT =
  'This is not built here. "npm start" in a clone of the repository builds it, and says why where it cannot.';

const NOT_MODIFIED: AnswerDoc = {
  description: 'The copy that If-None-Match names is current. There is no body.',
  headers: ['ETag'],
};

const UNBUILT: OperationDoc['errors'] = {
  not_found: { when: 'The service runs from a clone that could not be built.', message: NOT_BUILT },
};

export const healthzDoc: OperationDoc = {
  id: 'getHealth',
  tag: 'Service',
  summary: 'Check that the service is alive',
  description:
    'For liveness probes: answers as soon as the process runs, and needs no other part of the service.',
  answers: { 200: { description: 'The process answers.', schema: Alive } },
};

export const readyzDoc: OperationDoc = {
  id: 'getReadiness',
  tag: 'Service',
  summary: 'Check that the service is ready',
  description:
    'For readiness probes and load balancers: the service can accept requests and render them.',
  answers: { 200: { description: 'The service is ready.', schema: Ready } },
  errors: {
    internal_error: {
      when: 'An internal error occurred.',
      message: 'Something went wrong on our side. When you report it, name the request r-4711.',
    },
    service_unavailable: {
      when: 'The service is not ready. details.missing lists the reasons.',
      message: 'Not ready: the renderer is starting.',
      details: { missing: ['the renderer is starting'] },
    },
  },
};

export const openApiDoc: OperationDoc = {
  id: 'getOpenApiDocument',
  tag: 'Service',
  summary: 'Retrieve the OpenAPI document',
  description:
    'This interface as an OpenAPI 3.1 document, for generators of clients and other tools.',
  answers: {
    200: {
      description: 'The document.',
      media: 'application/json',
      headers: ['ETag'],
    },
    304: NOT_MODIFIED,
  },
};

export const referencePageDoc: OperationDoc = {
  id: 'getReferencePage',
  tag: 'Service',
  summary: 'Retrieve the reference page',
  description: 'This interface as a page, on which requests can be sent.',
  answers: {
    200: { description: 'The page.', media: 'text/html', headers: ['ETag'] },
    304: NOT_MODIFIED,
  },
  errors: UNBUILT,
};

export const referenceScriptDoc: OperationDoc = {
  id: 'getReferenceScript',
  tag: 'Service',
  summary: 'Retrieve the script of the reference page',
  description: 'The script that makes the reference page from the OpenAPI document.',
  answers: {
    200: { description: 'The script.', media: 'text/javascript', headers: ['ETag'] },
    304: NOT_MODIFIED,
  },
  errors: UNBUILT,
};

export const clientPackageDoc: OperationDoc = {
  id: 'getClientPackage',
  tag: 'Service',
  summary: 'Download the client for TypeScript and JavaScript',
  description:
    'The package of the typed client, in the version of this service. npm installs it by this address.',
  answers: {
    200: { description: 'The package.', media: 'application/gzip', headers: ['ETag'] },
    304: NOT_MODIFIED,
  },
  errors: UNBUILT,
};
