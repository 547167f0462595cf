/** `node deploy/healthcheck.mjs /readyz`: status 0 when the service in this container answers 200 there. */
const port = process.env['PRESSLEDGER_PORT'] || process.env['PORT'] || '8080';
const path = process.argv[2] ?? '/healthz';

const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
  signal: AbortSignal.timeout(4000),
}).catch(() => undefined);
process.exitCode = answer?.status === 200 ? 0 : 1;
