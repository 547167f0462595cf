import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ServiceError } from '../../errors.ts';
import type { HttpMiddleware } from '../context.ts';
import type { HttpDependencies, RouteDependencies } from '../dependencies.ts';

const RETRY_SECONDS = 2;

export const healthz: HttpMiddleware = (ctx) => {
  ctx.body = { status: 'ok' };
};

export function readyz(deps: Pick<HttpDependencies, 'readiness'>): HttpMiddleware {
  return async (ctx) => {
    const { ready, missing } = await deps.readiness();
    if (!ready) {
      throw new ServiceError('service_unavailable', `Not ready: ${missing.join('; ')}.`, {
        details: { missing },
        retryAfter: RETRY_SECONDS,
      });
    }
    ctx.body = { status: 'ready' };
  };
}

export function getOpenApi({ document }: RouteDependencies): HttpMiddleware {
  const text = Buffer.from(JSON.stringify(document));
  return (ctx) => {
    ctx.type = 'application/json';
    ctx.body = text;
  };
}

/** https://github.com/scalar/scalar/blob/main/documentation/configuration.md */
const REFERENCE_OPTIONS = {
  url: '/openapi.json',
  authentication: { preferredSecurityScheme: 'apiKey' },
  persistAuth: false,
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

const REFERENCE_PAGE = Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pressledger: API reference</title>
</head>
<body>
<noscript>This page needs JavaScript. The same as a document: <a href="/openapi.json">openapi.json</a></noscript>
<script id="api-reference" data-configuration="${JSON.stringify(REFERENCE_OPTIONS).replaceAll('"', '&quot;')}"></script>
<script src="/docs/reference.js"></script>
</body>
</html>
`);

export function getReferencePage(): HttpMiddleware {
  return (ctx) => {
    ctx.set('Content-Security-Policy', REFERENCE_POLICY);
    ctx.type = 'text/html';
    ctx.body = REFERENCE_PAGE;
  };
}

const referenceScript = (): string =>
  join(
    dirname(fileURLToPath(import.meta.resolve('@scalar/api-reference'))),
    'browser/standalone.js',
  );

/** Compressed once: nearly every client asks for that, and four megabytes become one. */
export function getReferenceScript(): HttpMiddleware {
  let compressed: Promise<Buffer> | undefined;
  return async (ctx) => {
    ctx.set('Cache-Control', 'public, max-age=86400');
    ctx.vary('Accept-Encoding');
    ctx.type = 'text/javascript';
    if (ctx.acceptsEncodings('gzip', 'identity') === 'gzip') {
      compressed ??= readFile(referenceScript()).then((script) => promisify(gzip)(script));
      ctx.set('Content-Encoding', 'gzip');
      ctx.body = await compressed;
    } else ctx.body = createReadStream(referenceScript());
  };
}
