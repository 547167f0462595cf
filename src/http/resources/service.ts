import { ServiceError } from '../../errors/errors.ts';
import type { HttpMiddleware } from '../context.ts';
import type { HttpDependencies, RouteDependencies } from '../dependencies.ts';
import { compressedBody, type FixedBody, sendFixed } from '../fixed-answer.ts';
import { NOT_BUILT } from './service.api.ts';

const RETRY_SECONDS = 2;

export const healthz: HttpMiddleware = (ctx) => {
  ctx.body = { status: 'ok' };
};

export function readyz(deps: Pick<HttpDependencies, 'readiness'>): HttpMiddleware {
  return async (ctx) => {
    const { ready, missing, leads } = await deps.readiness();
    if (!ready) {
      throw new ServiceError('service_unavailable', `Not ready: ${missing.join('; ')}.`, {
        details: { missing },
        retryAfter: RETRY_SECONDS,
      });
    }
    ctx.body = { status: 'ready', ...(leads !== undefined && { leads }) };
  };
}

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

export const getOpenApi = ({ document }: RouteDependencies): HttpMiddleware =>
  fixed('application/json', MINUTES_5, () => compressedBody(Buffer.from(JSON.stringify(document))));

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

export function getReferencePage(deps: RouteDependencies): HttpMiddleware {
  const make = async () => {
    // Without its script the page is empty.
    await builtFile(deps, REFERENCE_SCRIPT);
    return await compressedBody(REFERENCE_PAGE);
  };
  return fixed('text/html', MINUTES_5, make, { 'Content-Security-Policy': REFERENCE_POLICY });
}

export const getReferenceScript = (deps: RouteDependencies): HttpMiddleware =>
  fixed('text/javascript', DAY, () => builtFile(deps, REFERENCE_SCRIPT));

export const getClientPackage = (deps: RouteDependencies): HttpMiddleware =>
  fixed('application/gzip', MINUTES_5, () => builtFile(deps, 'client.tgz'));
