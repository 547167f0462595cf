/** All pages and their paths. Each page is loaded when it is first shown. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { queryClient } from './api/queries.ts';
import { conversionsSearch } from './pages/conversions/search.ts';
import { historySearch } from './pages/history/search.ts';
import { usageSearch } from './pages/usage/search.ts';
import { accountsSearch } from './pages/operations/accounts-search.ts';
import { session } from './session/session.ts';
import { signInSearch } from './session/sign-in-search.ts';
import { AppShell } from './ui/AppShell.tsx';
import { NotFoundPage } from './ui/NotFoundPage.tsx';
import { PageError } from './ui/PageError.tsx';

/** Its parameter has a type of its own: a page asks for the routes, whose types would else be made of its own. */
const lazyPage = (load: () => Promise<{ default: () => ReactNode }>) => lazyRouteComponent(load);

const root = createRootRoute({ notFoundComponent: NotFoundPage, errorComponent: PageError });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: lazyPage(() => import('./pages/sign-in/SignInPage.tsx')),
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

const at = <Path extends string>(path: Path) => ({ getParentRoute: () => signedIn, path });

const routeTree = root.addChildren([
  signIn,
  signedIn.addChildren([
    createRoute({
      ...at('/'),
      component: lazyPage(() => import('./pages/home/HomePage.tsx')),
    }),
    createRoute({
      ...at('/conversions'),
      validateSearch: conversionsSearch,
      component: lazyPage(() => import('./pages/conversions/ConversionsPage.tsx')),
    }),
    createRoute({
      ...at('/conversions/$id'),
      component: lazyPage(() => import('./pages/conversions/ConversionPage.tsx')),
    }),
    createRoute({
      ...at('/playground'),
      validateSearch: ({ from }: Record<string, unknown>): { readonly from?: string } =>
        typeof from === 'string' ? { from } : {},
      component: lazyPage(() => import('./pages/playground/PlaygroundPage.tsx')),
    }),
    createRoute({
      ...at('/verify'),
      component: lazyPage(() => import('./pages/verify/VerifyPage.tsx')),
    }),
    createRoute({
      ...at('/keys'),
      component: lazyPage(() => import('./pages/keys/KeysPage.tsx')),
    }),
    createRoute({
      ...at('/usage'),
      validateSearch: usageSearch,
      component: lazyPage(() => import('./pages/usage/UsagePage.tsx')),
    }),
    createRoute({
      ...at('/history'),
      validateSearch: historySearch,
      component: lazyPage(() => import('./pages/history/HistoryPage.tsx')),
    }),
    createRoute({
      ...at('/account'),
      component: lazyPage(() => import('./pages/account/AccountPage.tsx')),
    }),
    createRoute({
      ...at('/operations'),
      component: lazyPage(() => import('./pages/operations/OperationsPage.tsx')),
    }),
    createRoute({
      ...at('/operations/accounts'),
      validateSearch: accountsSearch,
      component: lazyPage(() => import('./pages/operations/AccountsPage.tsx')),
    }),
    createRoute({
      ...at('/operations/accounts/$id'),
      component: lazyPage(() => import('./pages/operations/OperatorAccountPage.tsx')),
    }),
    createRoute({
      ...at('/operations/log'),
      component: lazyPage(() => import('./pages/operations/LogPage.tsx')),
    }),
  ]),
]);

export const router = createRouter({
  routeTree,
  caseSensitive: true,
  scrollRestoration: true,
  defaultPreload: 'intent',
  // TanStack Query decides what is still fresh.
  defaultPreloadStaleTime: 0,
});

session.onEnd((reason) => {
  queryClient.clear();
  const { href } = router.state.location;
  void router.navigate({ to: '/sign-in', search: { from: href, reason } });
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
