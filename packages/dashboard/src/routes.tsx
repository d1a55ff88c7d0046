import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorRouteComponent,
  lazyRouteComponent,
  Outlet,
  redirect,
  type RouteComponent,
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

/** Users who are not logged in see the login instead of every page, at the page's own address. */
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
  <Page title="Page not found">
    <Empty title="No page exists at this address.">Choose a page on the left, or press / to search.</Empty>
  </Page>
);

const PageFailure: ErrorRouteComponent = ({ error, reset }) => (
  <Page title="This page failed">
    <Failure error={error} onRetry={reset} />
  </Page>
);

const root = createRootRoute({ component: Gate, notFoundComponent: NotFound });

/** `/` and `/login` redirect to the last visited environment. */
const toFirst = async (): Promise<void> => {
  const session = await queryClient.ensureQueryData(sessionQuery).catch(() => undefined);
  const first = session && firstEnvironment(session);
  if (first) throw redirect({ to: '/p/$project/$env', params: first });
};

const NoProject = () => (
  <main>
    <Page title="No project yet">
      <Empty title="You do not have a project yet." command="npx millrace projects create">
        Create one, or ask for an invitation to another project.
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

/** A page of an environment. It is loaded when it is first opened. */
const page = <Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => environment, path, component });

// A new page needs its route here, and its line in frame/links.ts.
const pages = [
  page(
    '/',
    lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
  ),
  page(
    '/charts',
    lazyRouteComponent(() => import('./pages/charts/charts-page.tsx'), 'ChartsPage'),
  ),
  page(
    '/runs',
    lazyRouteComponent(() => import('./pages/runs/runs-page.tsx'), 'RunsPage'),
  ),
  page(
    '/runs/$runId',
    lazyRouteComponent(() => import('./pages/run/run-page.tsx'), 'RunPage'),
  ),
  page(
    '/queues',
    lazyRouteComponent(() => import('./pages/queues/queues-page.tsx'), 'QueuesPage'),
  ),
  page(
    '/queues/$queueId',
    lazyRouteComponent(() => import('./pages/queues/queue-page.tsx'), 'QueuePage'),
  ),
  page(
    '/errors',
    lazyRouteComponent(() => import('./pages/errors/errors-page.tsx'), 'ErrorsPage'),
  ),
  page(
    '/errors/rules',
    lazyRouteComponent(() => import('./pages/errors/rules-page.tsx'), 'RulesPage'),
  ),
  page(
    '/errors/$errorId',
    lazyRouteComponent(() => import('./pages/errors/error-page.tsx'), 'ErrorPage'),
  ),
  page(
    '/tasks',
    lazyRouteComponent(() => import('./pages/tasks/tasks-page.tsx'), 'TasksPage'),
  ),
  page(
    '/tasks/$taskId',
    lazyRouteComponent(() => import('./pages/tasks/task-page.tsx'), 'TaskPage'),
  ),
  page(
    '/schedules',
    lazyRouteComponent(() => import('./pages/schedules/schedules-page.tsx'), 'SchedulesPage'),
  ),
  page(
    '/schedules/$scheduleId',
    lazyRouteComponent(() => import('./pages/schedules/schedule-page.tsx'), 'SchedulePage'),
  ),
  page(
    '/batches',
    lazyRouteComponent(() => import('./pages/batches/batches-page.tsx'), 'BatchesPage'),
  ),
  page(
    '/batches/$batchId',
    lazyRouteComponent(() => import('./pages/batches/batch-page.tsx'), 'BatchPage'),
  ),
  page(
    '/bulk',
    lazyRouteComponent(() => import('./pages/bulk/bulk-page.tsx'), 'BulkPage'),
  ),
  page(
    '/bulk/$bulkActionId',
    lazyRouteComponent(() => import('./pages/bulk/bulk-action-page.tsx'), 'BulkActionPage'),
  ),
  page(
    '/events',
    lazyRouteComponent(() => import('./pages/events/events-page.tsx'), 'EventsPage'),
  ),
  page(
    '/events/$eventId',
    lazyRouteComponent(() => import('./pages/events/event-page.tsx'), 'EventPage'),
  ),
  page(
    '/webhooks',
    lazyRouteComponent(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  ),
  page(
    '/webhooks/$webhookId',
    lazyRouteComponent(() => import('./pages/webhooks/webhook-page.tsx'), 'WebhookPage'),
  ),
  page(
    '/webhook-deliveries',
    lazyRouteComponent(() => import('./pages/webhooks/deliveries-page.tsx'), 'DeliveriesPage'),
  ),
  page(
    '/webhook-deliveries/$deliveryId',
    lazyRouteComponent(() => import('./pages/webhooks/delivery-page.tsx'), 'DeliveryPage'),
  ),
  page(
    '/waits',
    lazyRouteComponent(() => import('./pages/waits/waits-page.tsx'), 'WaitsPage'),
  ),
  page(
    '/waits/$waitpointId',
    lazyRouteComponent(() => import('./pages/waits/wait-page.tsx'), 'WaitPage'),
  ),
  page(
    '/sessions',
    lazyRouteComponent(() => import('./pages/sessions/sessions-page.tsx'), 'SessionsPage'),
  ),
  page(
    '/sessions/$session',
    lazyRouteComponent(() => import('./pages/sessions/session-page.tsx'), 'SessionPage'),
  ),
  page(
    '/variables',
    lazyRouteComponent(() => import('./pages/variables/variables-page.tsx'), 'VariablesPage'),
  ),
  page(
    '/versions',
    lazyRouteComponent(() => import('./pages/versions/versions-page.tsx'), 'VersionsPage'),
  ),
  page(
    '/versions/$version',
    lazyRouteComponent(() => import('./pages/versions/version-page.tsx'), 'VersionPage'),
  ),
  page(
    '/versions/$version/compare',
    lazyRouteComponent(() => import('./pages/versions/compare-page.tsx'), 'ComparePage'),
  ),
  page(
    '/notifications',
    lazyRouteComponent(() => import('./pages/notifications/notifications-page.tsx'), 'NotificationsPage'),
  ),
  page(
    '/notifications/$id',
    lazyRouteComponent(() => import('./pages/notifications/notifications-page.tsx'), 'NotificationLink'),
  ),
  page(
    '/settings/{-$section}',
    lazyRouteComponent(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
  ),
];

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
  environment.addChildren(pages),
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
