/** The HTTP application: what every request passes, and the routes of `routes.ts`. */
import Router from '@koa/router';
import Koa from 'koa';
import { LookBacks, limitsOf, operatorLimits } from '../conversions/look-back.ts';
import { admitOperator, type HttpMiddleware, type RequestState } from './context.ts';
import type { HttpApp, HttpDependencies, RouteDependencies } from './dependencies.ts';
import { BuiltFiles } from './fixed-answer.ts';
import {
  authenticate,
  countAnonymous,
  notFound,
  sessionEnded,
  showRateLimit,
} from './middleware/authenticate.ts';
import { RequestBodies } from './middleware/body.ts';
import { clientAddress } from './middleware/client-address.ts';
import { cors } from './middleware/cors.ts';
import { Credentials, coalescedHead } from './middleware/credential.ts';
import { createDashboard } from './middleware/dashboard.ts';
import { errors } from './middleware/errors.ts';
import { observe } from './middleware/observe.ts';
import { rateLimitHeadersOf } from './middleware/rate-limit.ts';
import { requestId } from './middleware/request-id.ts';
import { sameOrigin } from './middleware/same-origin.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { sessionsOnly } from './middleware/sessions-only.ts';
import { buildDocument } from './openapi/document.ts';
import type { Auth } from './openapi/operation.ts';
import { operatorsOnly } from './operator.ts';
import { operatorRoutes } from './operator-routes.ts';
import { ROUTES } from './routes.ts';

/** The application of an API node. */
export interface ApiApp extends HttpApp {
  /** Handles requests of a listener that nobody but the operator reaches. */
  readonly handleOperator: HttpApp['handle'];
}

/** `/files/{id}.pdf` → `/files/:id.pdf`; `{path}` takes slashes too. */
const pattern = (path: string): string =>
  path.replace('{path}', '*path').replaceAll(/\{(\w+)\}/g, ':$1');

function createRouter(deps: RouteDependencies, credentials: Credentials): Router<RequestState> {
  const router = new Router<RequestState>({ strict: true, sensitive: true });
  const signedIn = authenticate(deps, (ctx) => credentials.callerOf(ctx));
  const withCookie = authenticate(deps, (ctx) => credentials.callerByCookie(ctx), sessionEnded);
  const admission: Readonly<Record<Auth, readonly HttpMiddleware[]>> = {
    caller: [signedIn],
    session: [signedIn, sessionsOnly],
    operator: [signedIn, operatorsOnly],
    page: [sameOrigin(deps), countAnonymous(deps)],
    cookie: [sameOrigin(deps), withCookie],
    address: [countAnonymous(deps)],
    static: [countAnonymous(deps)],
    // The link is judged, and a wrong one counted, where its file is known.
    link: [],
    none: [showRateLimit(deps)],
  };
  for (const { method, path, auth, handler } of ROUTES) {
    router[method](pattern(path), ...admission[auth], handler(deps));
  }
  return router;
}

export function createApp(given: HttpDependencies): ApiApp {
  const deps = { ...given, store: { head: coalescedHead(given.store) } };
  const credentials = new Credentials(deps);
  const closing = new AbortController();
  const built = new BuiltFiles(deps.builtFolder);
  const dashboard = createDashboard(deps, built);
  const app = new Koa<RequestState>();
  // Every failure is answered and logged by `errors`; what is left is a client that went away.
  app.on('error', (err: unknown) => deps.logger.debug({ err }, 'An answer was cut off.'));
  const paths = ROUTES.map(({ path }) => path);
  const { tracing, onRequestEnd: onEnd } = deps;
  if (tracing ?? onEnd) {
    const routes = new Map(paths.map((path) => [pattern(path), path]));
    app.use(observe({ routes, onEnd, tracing }));
  }
  const isTraced = tracing !== undefined;
  app.use(requestId({ logger: deps.logger, key: deps.addressKey, paths, isTraced }));
  app.use(securityHeaders);
  app.use(clientAddress(deps.config));
  app.use(errors);
  app.use(cors(deps, deps.config));
  app.use(dashboard.serve);
  const document = buildDocument(
    ROUTES.filter(({ isInternal }) => isInternal !== true),
    deps,
  );
  const bodies = new RequestBodies(deps.budgets, (ctx) => credentials.callerOf(ctx));
  const parts: RouteDependencies = {
    ...deps,
    document,
    built,
    bodies,
    lookBacks: new LookBacks(deps, limitsOf(deps.budgets)),
    operatorLookBacks: new LookBacks(deps, operatorLimits()),
    closing: closing.signal,
    findCaller: (ctx) => credentials.callerOf(ctx),
  };
  const router = createRouter(parts, credentials);
  app.use(operatorRoutes(parts).routes());
  app.use(router.routes());
  app.use(notFound(deps, credentials, router, dashboard.answerPerson));
  const callback = app.callback();
  return {
    handle: (request, response) => void callback(request, response),
    handleOperator: (request, response) => {
      admitOperator(request);
      void callback(request, response);
    },
    rateLimitHeaders: rateLimitHeadersOf(deps),
    endWaiting: () => closing.abort(),
  };
}
