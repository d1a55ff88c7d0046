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
const queues = createRoute({
  getParentRoute: () => environment,
  path: '/queues',
  component: lazyRouteComponent(() => import('./pages/queues/queues-page.tsx'), 'QueuesPage'),
});
const queue = createRoute({
  getParentRoute: () => environment,
  path: '/queues/$queueId',
  component: lazyRouteComponent(() => import('./pages/queues/queue-page.tsx'), 'QueuePage'),
});
const errors = createRoute({
  getParentRoute: () => environment,
  path: '/errors',
  component: lazyRouteComponent(() => import('./pages/errors/errors-page.tsx'), 'ErrorsPage'),
});
const errorRules = createRoute({
  getParentRoute: () => environment,
  path: '/errors/rules',
  component: lazyRouteComponent(() => import('./pages/errors/rules-page.tsx'), 'RulesPage'),
});
const error = createRoute({
  getParentRoute: () => environment,
  path: '/errors/$errorId',
  component: lazyRouteComponent(() => import('./pages/errors/error-page.tsx'), 'ErrorPage'),
});
const tasks = createRoute({
  getParentRoute: () => environment,
  path: '/tasks',
  component: lazyRouteComponent(() => import('./pages/tasks/tasks-page.tsx'), 'TasksPage'),
});
const task = createRoute({
  getParentRoute: () => environment,
  path: '/tasks/$taskId',
  component: lazyRouteComponent(() => import('./pages/tasks/task-page.tsx'), 'TaskPage'),
});

const schedules = createRoute({
  getParentRoute: () => environment,
  path: '/schedules',
  component: lazyRouteComponent(() => import('./pages/schedules/schedules-page.tsx'), 'SchedulesPage'),
});
const schedule = createRoute({
  getParentRoute: () => environment,
  path: '/schedules/$scheduleId',
  component: lazyRouteComponent(() => import('./pages/schedules/schedule-page.tsx'), 'SchedulePage'),
});
const batches = createRoute({
  getParentRoute: () => environment,
  path: '/batches',
  component: lazyRouteComponent(() => import('./pages/batches/batches-page.tsx'), 'BatchesPage'),
});
const batch = createRoute({
  getParentRoute: () => environment,
  path: '/batches/$batchId',
  component: lazyRouteComponent(() => import('./pages/batches/batch-page.tsx'), 'BatchPage'),
});
const bulk = createRoute({
  getParentRoute: () => environment,
  path: '/bulk',
  component: lazyRouteComponent(() => import('./pages/bulk/bulk-page.tsx'), 'BulkPage'),
});
const bulkAction = createRoute({
  getParentRoute: () => environment,
  path: '/bulk/$bulkActionId',
  component: lazyRouteComponent(() => import('./pages/bulk/bulk-action-page.tsx'), 'BulkActionPage'),
});
const events = createRoute({
  getParentRoute: () => environment,
  path: '/events',
  component: lazyRouteComponent(() => import('./pages/events/events-page.tsx'), 'EventsPage'),
});
const event = createRoute({
  getParentRoute: () => environment,
  path: '/events/$eventId',
  component: lazyRouteComponent(() => import('./pages/events/event-page.tsx'), 'EventPage'),
});
const waits = createRoute({
  getParentRoute: () => environment,
  path: '/waits',
  component: lazyRouteComponent(() => import('./pages/waits/waits-page.tsx'), 'WaitsPage'),
});
const wait = createRoute({
  getParentRoute: () => environment,
  path: '/waits/$waitpointId',
  component: lazyRouteComponent(() => import('./pages/waits/wait-page.tsx'), 'WaitPage'),
});
const sessions = createRoute({
  getParentRoute: () => environment,
  path: '/sessions',
  component: lazyRouteComponent(() => import('./pages/sessions/sessions-page.tsx'), 'SessionsPage'),
});
const session = createRoute({
  getParentRoute: () => environment,
  path: '/sessions/$session',
  component: lazyRouteComponent(() => import('./pages/sessions/session-page.tsx'), 'SessionPage'),
});

const pages2 = [
  schedules,
  schedule,
  batches,
  batch,
  bulk,
  bulkAction,
  events,
  event,
  waits,
  wait,
  sessions,
  session,
];

const routeTree = root.addChildren([
  index,
  login,
  environment.addChildren([
    overview,
    runs,
    run,
    queues,
    queue,
    errors,
    errorRules,
    error,
    tasks,
    task,
    ...pages2,
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
