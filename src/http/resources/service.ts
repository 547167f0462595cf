import Type from 'typebox';
import { ServiceError } from '../../errors/errors.ts';
import type { HttpMiddleware } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { compressedBody, type FixedBody, sendFixed } from '../fixed-answer.ts';
import { healthz, readyz } from '../health-app.ts';
import { Closed, Flag } from '../openapi/fields.ts';
import type { AnswerDoc, Endpoint, OperationDoc } from '../openapi/operation.ts';

/** The answer of `GET /healthz`. */
export const Alive = Closed({ status: Type.Literal('ok') });

/** The answer of `GET /readyz`. */
export const Ready = Closed({
  status: Type.Literal('ready'),
  leads: Type.Optional(
    Flag(
      'True on the one node that feeds the render queue and records what comes of the jobs.',
      true,
    ),
  ),
});

/** The message where the set-up could not build a part that is served as a file. */
const NOT_BUILT =
  'This is not built here. "npm start" in a clone of the repository builds it, and says why where it cannot.';

const NOT_MODIFIED: AnswerDoc = {
  description: 'The copy that If-None-Match names is current. There is no body.',
  headers: ['ETag'],
};

const UNBUILT: OperationDoc['errors'] = {
  not_found: { when: 'The service runs from a clone that could not be built.', message: NOT_BUILT },
};

export const getHealth: Endpoint = {
  doc: {
    id: 'getHealth',
    tag: 'Service',
    summary: 'Check that the service is alive',
    description:
      'For liveness probes: answers as soon as the service has started, and needs no other part of it.',
    answers: { 200: { description: 'The process answers.', schema: Alive } },
  },
  handler: () => healthz,
};

export const getReadiness: Endpoint = {
  doc: {
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
  },
  handler: readyz,
};

/**
 * Answers with a text or file that is the same for everybody, made once. A copy is good for `maxAgeSeconds`;
 * after that its ETag tells whether it still is.
 */
function fixed(
  type: string,
  maxAgeSeconds: number,
  make: () => Promise<FixedBody>,
  headers: Readonly<Record<string, string>> = {},
): HttpMiddleware {
  let made: Promise<FixedBody> | undefined;
  return async (ctx) => {
    made ??= make();
    // What could not be read is read again the next time.
    made.catch(() => (made = undefined));
    const cacheControl = { 'Cache-Control': `public, max-age=${maxAgeSeconds}` };
    sendFixed(ctx, await made, type, { ...headers, ...cacheControl });
  };
}

/** @throws {ServiceError} `not_found`: the set-up could not build it */
async function builtFile({ built }: RouteDependencies, name: string): Promise<FixedBody> {
  const body = await built.find(name);
  if (body === undefined) throw new ServiceError('not_found', NOT_BUILT);
  return body;
}

const MINUTES_5 = 300;
const DAY = 86_400;

export const getOpenApi: Endpoint = {
  doc: {
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
  },
  handler: ({ document }) =>
    fixed('application/json', MINUTES_5, () =>
      compressedBody(Buffer.from(JSON.stringify(document()))),
    ),
};

/** https://github.com/scalar/scalar/blob/main/documentation/configuration.md */
const REFERENCE_OPTIONS = {
  url: '/openapi.json',
  authentication: { preferredSecurityScheme: 'apiKey' },
  persistAuth: false,
  // Options in the order of the schema, the most used first.
  orderSchemaPropertiesBy: 'preserve',
  documentDownloadType: 'json',
  // The placeholder of a secret is a joke in Base64, which reads like a key. A section that is shown by its
  // link needs no frame.
  customCss:
    'input[placeholder^=QUxM]::placeholder { color: transparent !important } section:focus-visible { outline: none !important } .markdown td, .markdown th { word-break: normal !important; overflow-wrap: normal !important } :root { --scalar-custom-header-height: 40px } nav.service { position: sticky; top: 0; z-index: 10; box-sizing: border-box; height: 40px; padding: 10px 24px; font: 14px/20px var(--scalar-font); background: var(--scalar-background-1); border-bottom: 1px solid var(--scalar-border-color) } nav.service a { color: var(--scalar-color-1) }',
  // All that would lead to servers of others, or asks them for something.
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
};

/**
 * One script, from here, which reaches this service alone. It makes its style sheets while it runs, so that
 * no hash of them is known beforehand.
 */
const REFERENCE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const REFERENCE_SCRIPT = 'reference.js';

const REFERENCE_PAGE = Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pressledger: API reference</title>
</head>
<body>
<nav class="service"><a href="/">Dashboard</a></nav>
<noscript>This page needs JavaScript. The same as a document: <a href="/openapi.json">openapi.json</a></noscript>
<script id="api-reference" data-configuration="${JSON.stringify(REFERENCE_OPTIONS).replaceAll('"', '&quot;')}"></script>
<script src="/docs/reference.js"></script>
</body>
</html>
`);

export const getReferencePage: Endpoint = {
  doc: {
    id: 'getReferencePage',
    tag: 'Service',
    summary: 'Retrieve the reference page',
    description: 'This interface as a page, on which requests can be sent.',
    answers: {
      200: { description: 'The page.', media: 'text/html', headers: ['ETag'] },
      304: NOT_MODIFIED,
    },
    errors: UNBUILT,
  },
  handler: (deps) => {
    const make = async () => {
      // Without its script the page is empty.
      await builtFile(deps, REFERENCE_SCRIPT);
      return await compressedBody(REFERENCE_PAGE);
    };
    return fixed('text/html', MINUTES_5, make, { 'Content-Security-Policy': REFERENCE_POLICY });
  },
};

export const getReferenceScript: Endpoint = {
  doc: {
    id: 'getReferenceScript',
    tag: 'Service',
    summary: 'Retrieve the script of the reference page',
    description: 'The script that makes the reference page from the OpenAPI document.',
    answers: {
      200: { description: 'The script.', media: 'text/javascript', headers: ['ETag'] },
      304: NOT_MODIFIED,
    },
    errors: UNBUILT,
  },
  handler: (deps) => fixed('text/javascript', DAY, () => builtFile(deps, REFERENCE_SCRIPT)),
};

export const getClientPackage: Endpoint = {
  doc: {
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
  },
  handler: (deps) => fixed('application/gzip', MINUTES_5, () => builtFile(deps, 'client.tgz')),
};
