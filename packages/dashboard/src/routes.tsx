import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorRouteComponent,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { ApiError } from './api/api-error.ts';
import { queryClient } from './api/ask.ts';
import { firstEnvironment, sessionQuery } from './api/session.ts';
import { Empty } from './parts/empty.tsx';
import { Failure } from './parts/failure.tsx';
import { Page } from './parts/page.tsx';
import { RunPanelContext } from './parts/runs/run-panel.tsx';
import { Frame } from './frame/frame.tsx';
import { PlainFrame } from './frame/plain-frame.tsx';
import { parseSearch, stringifySearch } from './search-params.ts';

const LoginPage = lazy(() => import('./pages/login/login-page.tsx'));

/** Whoever is not logged in sees the login in the stead of every page, at the page's own address. */
function Gate() {
  const session = useQuery(sessionQuery);
  if (session.data) return <Outlet />;
  const { error } = session;
  if (error instanceof ApiError && error.status === 401)
    return (
      <Suspense>
        <LoginPage />
      </Suspense>
    );
  if (error)
    return (
      <Page title="Millrace">
        <Failure error={error} onRetry={() => void session.refetch()} />
      </Page>
    );
  return null;
}

const NotFound = () => (
  <Page title="No such page">
    <Empty title="There is no page at this address.">Choose one on the left, or search with the key /.</Empty>
  </Page>
);

const PageFailure: ErrorRouteComponent = ({ error, reset }) => (
  <Page title="This page failed">
    <Failure error={error} onRetry={reset} />
  </Page>
);

const root = createRootRoute({ component: Gate, notFoundComponent: NotFound });

/** `/` and `/login` lead to where the reader was last. */
const toFirst = async (): Promise<void> => {
  const session = await queryClient.ensureQueryData(sessionQuery).catch(() => undefined);
  const first = session && firstEnvironment(session);
  if (first) throw redirect({ to: '/p/$project/$env', params: first });
};

const NoProject = () => (
  <main>
    <Page title="No project yet">
      <Empty title="You have no project yet." command="npx millrace projects create">
        Make one, or ask somebody to invite you to theirs.
      </Empty>
    </Page>
  </main>
);

const index = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: toFirst,
  component: NoProject,
});
const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  beforeLoad: toFirst,
  component: NoProject,
});

const RunPanel = lazy(() => import('./pages/run/run-panel.tsx'));

const EnvironmentFrame = () => (
  <RunPanelContext value={RunPanel}>
    <Frame />
  </RunPanelContext>
);

const environment = createRoute({
  getParentRoute: () => root,
  path: '/p/$project/$env',
  component: EnvironmentFrame,
});

// A page is loaded when it is first opened. One that is added: its route here, its line in frame/links.ts.
const overview = createRoute({
  getParentRoute: () => environment,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
});
const runs = createRoute({
  getParentRoute: () => environment,
  path: '/runs',
  component: lazyRouteComponent(() => import('./pages/runs/runs-page.tsx'), 'RunsPage'),
});

const run = createRoute({
  getParentRoute: () => environment,
  path: '/runs/$runId',
  component: lazyRouteComponent(() => import('./pages/run/run-page.tsx'), 'RunPage'),
});

const variables = createRoute({
  getParentRoute: () => environment,
  path: '/variables',
  component: lazyRouteComponent(() => import('./pages/variables/variables-page.tsx'), 'VariablesPage'),
});
const versions = createRoute({
  getParentRoute: () => environment,
  path: '/versions',
  component: lazyRouteComponent(() => import('./pages/versions/versions-page.tsx'), 'VersionsPage'),
});
const version = createRoute({
  getParentRoute: () => environment,
  path: '/versions/$version',
  component: lazyRouteComponent(() => import('./pages/versions/version-page.tsx'), 'VersionPage'),
});
const notifications = createRoute({
  getParentRoute: () => environment,
  path: '/notifications',
  component: lazyRouteComponent(
    () => import('./pages/notifications/notifications-page.tsx'),
    'NotificationsPage',
  ),
});
const notification = createRoute({
  getParentRoute: () => environment,
  path: '/notifications/$id',
  component: lazyRouteComponent(
    () => import('./pages/notifications/notifications-page.tsx'),
    'NotificationLink',
  ),
});
const settings = createRoute({
  getParentRoute: () => environment,
  path: '/settings/{-$section}',
  component: lazyRouteComponent(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
});

const plain = createRoute({ getParentRoute: () => root, id: 'plain', component: PlainFrame });
const account = createRoute({
  getParentRoute: () => plain,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account/account-page.tsx'), 'AccountPage'),
});

const routeTree = root.addChildren([
  index,
  login,
  plain.addChildren([account]),
  environment.addChildren([
    overview,
    runs,
    run,
    variables,
    versions,
    version,
    notifications,
    notification,
    settings,
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: new URL('.', document.baseURI).pathname,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPreloadDelay: 80,
  scrollRestoration: true,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: PageFailure,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
