/** All pages. Each page is loaded when it is first shown. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { queryClient } from './api/client.ts';
import { conversionsSearch } from './pages/conversions/search.ts';
import { historySearch } from './pages/history/search.ts';
import { accountsSearch, spanSearch } from './pages/operations/search.ts';
import { usageSearch } from './pages/usage/search.ts';
import { deliveriesSearch } from './pages/webhooks/search.ts';
import { PATHS } from './paths.ts';
import { anyText, pageSearch, searchOf } from './search.ts';
import { session, signInSearch } from './session/session.ts';
import { AppShell, FrameOfAnybody } from './ui/AppShell.tsx';
import { NotFoundPage, PageError } from './ui/LonePage.tsx';

/** Stated, for a page asks for the routes: their types would else be made of its own. */
type Load = () => Promise<{ default: () => ReactNode }>;
type Search = Record<string, unknown>;

const root = createRootRoute({ notFoundComponent: NotFoundPage, errorComponent: PageError });

/** A page that nobody needs to be signed in for. */
const lone = <const Path extends string>(path: Path, load: Load) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) });

const signIn = createRoute({
  getParentRoute: () => root,
  path: PATHS.signIn,
  validateSearch: signInSearch,
  component: lazyRouteComponent((): ReturnType<Load> => import('./pages/sign-in/SignInPage.tsx')),
});

/** All pages that a person must be signed in to see. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: AppShell,
  beforeLoad: async ({ location }): Promise<void> => {
    if (await session.isOpen()) return;
    const search = location.href === '/' ? {} : { from: location.href };
    redirect({ to: '/sign-in', search, replace: true, throw: true });
  },
});

/** Serves people without an account, too: in the frame of the others, if somebody is signed in. */
const anybody = createRoute({
  getParentRoute: () => root,
  id: 'anybody',
  component: FrameOfAnybody,
  beforeLoad: async (): Promise<void> => void (await session.isOpen()),
});

const verify = createRoute({
  getParentRoute: () => anybody,
  path: PATHS.verify,
  component: lazyRouteComponent((): ReturnType<Load> => import('./pages/verify/VerifyPage.tsx')),
});

/** A page below the frame. Its search parameters are those that `validateSearch` lets through. */
const page = <const Path extends string, Valid = object>(
  path: Path,
  load: Load,
  validateSearch: (search: Search) => Valid = () => ({}) as Valid,
) =>
  createRoute({
    getParentRoute: () => signedIn,
    path,
    validateSearch,
    component: lazyRouteComponent(load),
  });

/** A page that operators alone can use. */
const forOperators = <const Path extends string, Valid = object>(
  path: Path,
  load: Load,
  validateSearch?: (search: Search) => Valid,
) =>
  page(
    path,
    async () => {
      const guard = import('./pages/operations/OperatorsOnly.tsx');
      const { default: content } = await load();
      return { default: (await guard).forOperators(content) };
    },
    validateSearch,
  );

const playgroundSearch = searchOf({ from: anyText, template: anyText });
const documentsSearch = searchOf({ add: anyText, from: anyText });

const routeTree = root.addChildren([
  signIn,
  lone(PATHS.resetPassword, () => import('./pages/sign-in/ResetPasswordPage.tsx')),
  lone(PATHS.signUp, () => import('./pages/sign-in/SignUpPage.tsx')),
  lone(PATHS.invitation, () => import('./pages/sign-in/InvitationPage.tsx')),
  anybody.addChildren([verify]),
  signedIn.addChildren([
    page(PATHS.home, () => import('./pages/home/HomePage.tsx')),
    page(
      PATHS.conversions,
      () => import('./pages/conversions/ConversionsPage.tsx'),
      conversionsSearch,
    ),
    page(PATHS.conversion, () => import('./pages/conversions/ConversionPage.tsx')),
    page(PATHS.batches, () => import('./pages/batches/BatchesPage.tsx'), pageSearch),
    page(PATHS.batch, () => import('./pages/batches/BatchPage.tsx'), pageSearch),
    page(PATHS.playground, () => import('./pages/playground/PlaygroundPage.tsx'), playgroundSearch),
    page(PATHS.templates, () => import('./pages/templates/TemplatesPage.tsx')),
    page(PATHS.template, () => import('./pages/templates/TemplatePage.tsx'), pageSearch),
    page(PATHS.documents, () => import('./pages/documents/DocumentsPage.tsx'), documentsSearch),
    page(PATHS.keys, () => import('./pages/keys/KeysPage.tsx')),
    page(PATHS.webhooks, () => import('./pages/webhooks/WebhooksPage.tsx')),
    page(PATHS.deliveries, () => import('./pages/webhooks/DeliveriesPage.tsx'), deliveriesSearch),
    page(PATHS.delivery, () => import('./pages/webhooks/DeliveryPage.tsx')),
    page(PATHS.webhook, () => import('./pages/webhooks/WebhookPage.tsx'), deliveriesSearch),
    page(PATHS.usage, () => import('./pages/usage/UsagePage.tsx'), usageSearch),
    page(PATHS.history, () => import('./pages/history/HistoryPage.tsx'), historySearch),
    page(PATHS.members, () => import('./pages/members/MembersPage.tsx')),
    page(PATHS.account, () => import('./pages/account/AccountPage.tsx')),
    page(PATHS.confirmEmail, () => import('./pages/account/ConfirmEmailPage.tsx')),
    page(PATHS.otherWaysIn, () => import('./pages/account/OtherWaysInPage.tsx')),
    forOperators(
      PATHS.operations,
      () => import('./pages/operations/OperationsPage.tsx'),
      spanSearch,
    ),
    forOperators(
      PATHS.accounts,
      () => import('./pages/operations/AccountsPage.tsx'),
      accountsSearch,
    ),
    forOperators(PATHS.operatorAccount, () => import('./pages/operations/OperatorAccountPage.tsx')),
    forOperators(PATHS.log, () => import('./pages/operations/LogPage.tsx')),
  ]),
]);

/** Texts as they are: the router itself would put quotes around those that look like numbers. */
const parseSearch = (text: string): Search => Object.fromEntries(new URLSearchParams(text));

function stringifySearch(search: Search): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return text.size === 0 ? '' : `?${text.toString().replaceAll('%3A', ':')}`;
}

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  // What a page does not know is no parameter of it.
  search: { strict: true },
  caseSensitive: true,
  scrollRestoration: true,
  defaultPreload: 'intent',
  // TanStack Query decides what is still fresh.
  defaultPreloadStaleTime: 0,
});

session.onEnd((reason) => {
  queryClient.clear();
  // The link that changed the address is used up.
  const from = reason === 'address-changed' ? PATHS.account : router.state.location.href;
  void router.navigate({ to: '/sign-in', search: { from, reason } });
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
