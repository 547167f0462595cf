/** The HTTP application: what every request passes, and the routes of `routes.ts`. */
import Router from '@koa/router';
import Koa from 'koa';
import { LookBacks, limitsOf, operatorLimits } from '../conversions/look-back.ts';
import { ConversionSearches } from '../conversions/search.ts';
import { FailedWork } from '../conversions/failed-work.ts';
import { TemplateTime } from '../conversions/template-time.ts';
import { Thumbnails } from '../conversions/thumbnails.ts';
import { TemplateThreads } from '../templates/threads.ts';
import { ServiceError } from '../errors/errors.ts';
import { permit } from './access.ts';
import {
  admitOperator,
  type HttpContext,
  type HttpMiddleware,
  type RequestState,
} from './context.ts';
import type { HttpApp, HttpDependencies, RouteDependencies } from './dependencies.ts';
import { BuiltFiles } from './fixed-answer.ts';
import { RequestBodies } from './middleware/body.ts';
import { coalescedHead } from './middleware/coalesced-head.ts';
import { cors } from './middleware/cors.ts';
import {
  authenticate,
  Credentials,
  countAnonymous,
  identify,
  presentsCredential,
  sessionEnded,
  showRateLimit,
} from './middleware/credential.ts';
import { createDashboard } from './middleware/dashboard.ts';
import { errors } from './middleware/errors.ts';
import { observe } from './middleware/observe.ts';
import { countRequest, rateLimitHeadersOf, setRateLimitHeaders } from './middleware/rate-limit.ts';
import { clientAddress, requestId, securityHeaders } from './middleware/request.ts';
import { sameOrigin } from './middleware/same-origin.ts';
import { noWayAround, nothingLacks, sessionsOnly } from './middleware/sessions-only.ts';
import { buildDocument } from './openapi/document.ts';
import type { Auth } from './openapi/operation.ts';
import { operatorsOnly } from './operator.ts';
import { operatorRoutes } from './operator-routes.ts';
import { BASE_PATH, ROUTES } from './routes.ts';

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
  for (const {
    method,
    path,
    auth,
    right,
    needs,
    setsUpSignIn,
    changesFactors,
    handler,
  } of ROUTES) {
    if (needs !== undefined && !deps.config[needs]) continue;
    const allowed = right === undefined ? [] : [permit(right)];
    const isOpen = setsUpSignIn === true || auth === 'cookie';
    router[method](
      pattern(path),
      ...admission[auth],
      ...(isOpen ? [] : [nothingLacks]),
      ...allowed,
      ...(changesFactors ? [noWayAround(deps)] : []),
      handler(deps),
    );
  }
  return router;
}

interface Place {
  readonly path: unknown;
  readonly methods: string[];
}

interface Routes {
  match(path: string, method: string): { readonly path: readonly Place[] };
}

/** Other spellings of a path: its base left out, a slash too many or too few, the document as YAML. */
function spellingsOf(path: string): readonly string[] {
  const bare = path.replace(/(?<=.)\/$/, '').replace(/\.ya?ml$/, '.json');
  const places = ['', '/api', BASE_PATH].flatMap((base) => [`${base}${bare}/`, base + bare]);
  return places.filter((place) => place !== path);
}

/**
 * Answers requests without a route, or with a method that their route does not have. Counts every credential, good or bad.
 * @param answerPerson sends an HTML page to browsers; returns false if the client wants JSON
 */
function notFound(
  deps: HttpDependencies,
  credentials: Credentials,
  routes: Routes,
  answerPerson: (ctx: HttpContext) => Promise<boolean>,
): HttpMiddleware {
  return async (ctx) => {
    const methodsAt = (path: string) => {
      const places = routes.match(path, ctx.method).path;
      // `/conversions/zip/` also has the form of `/conversions/{id}/`.
      const fixed = places.filter((place) => place.path === path);
      return [...new Set((fixed.length > 0 ? fixed : places).flatMap(({ methods }) => methods))];
    };
    await identify(ctx, deps, (asked) => credentials.callerOf(asked));
    // A request for a missing resource can still try a credential, and its lookup costs as much.
    if (presentsCredential(ctx)) await countRequest(deps, ctx);
    else await setRateLimitHeaders(deps, ctx);
    const allowed = methodsAt(ctx.path);
    if (allowed.length > 0) {
      ctx.set('Allow', allowed.join(', '));
      throw new ServiceError('method_not_allowed');
    }
    const meant = spellingsOf(ctx.path).find((path) => methodsAt(path).length > 0);
    const isOfService = meant !== undefined && !meant.startsWith('/api/');
    if (!isOfService && (await answerPerson(ctx))) return;
    const hint = meant === undefined ? 'The API is described at /docs.' : `Did you mean ${meant}?`;
    throw new ServiceError('not_found', `There is no such resource. ${hint}`);
  };
}

/** Searches, which forget an account as soon as it is erased. */
function searchesOf(deps: HttpDependencies, closing: AbortSignal): ConversionSearches {
  const searches = new ConversionSearches(deps, deps.budgets.get('maxSearchBytes').limit);
  const end = deps.runner.onCommit(
    (events) => {
      for (const { type, data } of events) {
        if (type === 'AccountErased') searches.forget((data as { accountId: string }).accountId);
      }
    },
    ['AccountErased'],
  );
  const stop = (): void => {
    end();
    void searches.close();
  };
  closing.addEventListener('abort', stop, { once: true });
  return searches;
}

function templatesOf({ budgets, clock }: HttpDependencies, closing: AbortSignal): TemplateTime {
  const threads = new TemplateThreads();
  closing.addEventListener('abort', () => void threads.close(), { once: true });
  return new TemplateTime(threads, budgets, clock);
}

function failedWorkOf(deps: HttpDependencies, closing: AbortSignal): FailedWork {
  const failedWork = new FailedWork(deps);
  closing.addEventListener('abort', () => failedWork.close(), { once: true });
  return failedWork;
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
  const thumbnails = new Thumbnails(deps.logger);
  closing.signal.addEventListener('abort', () => void thumbnails.close(), { once: true });
  const bodies = new RequestBodies(deps.budgets, (ctx) => credentials.callerOf(ctx));
  const parts: RouteDependencies = {
    ...deps,
    document: () =>
      buildDocument(
        ROUTES.filter(({ isInternal }) => isInternal !== true),
        deps,
      ),
    built,
    bodies,
    lookBacks: new LookBacks(deps, limitsOf(deps.budgets)),
    searches: searchesOf(deps, closing.signal),
    thumbnails,
    templates: templatesOf(deps, closing.signal),
    failedWork: failedWorkOf(deps, closing.signal),
    operatorLookBacks: new LookBacks(deps, operatorLimits()),
    closing: closing.signal,
    findCaller: (ctx) => credentials.callerOf(ctx),
  };
  const router = createRouter(parts, credentials);
  app.use(operatorRoutes(parts).routes());
  app.use(router.routes());
  // Behind the routes, so that requests of the API do not pass it.
  app.use(dashboard.serve);
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
