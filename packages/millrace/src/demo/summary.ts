import {
  alerts,
  deployments,
  envvars,
  errors,
  events,
  notifications,
  queues,
  runs,
  schedules,
  sessions,
  tasks,
  wait,
  type ListRunsParams,
} from '@millrace/sdk';
import { call } from '../cli/call.ts';
import { newsletter } from './seed/queues.ts';
import type { Shop } from './shop.ts';

/** Counts of all objects, and the ids of interesting ones. */
export interface Summary {
  readonly counts: Readonly<Record<string, number>>;
  readonly open: Readonly<Record<string, string | null>>;
}

const all = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of list) found.push(item);
  return found;
};

/** Reads the contents of the shop through the API. */
export async function summarise({ url, personalAccessToken: token, secretKey }: Shop): Promise<Summary> {
  const login = { url, token };
  const [organization] = await call(login, 'listOrganizations');
  const members = organization
    ? await call(login, 'listMembers', { params: { organization: organization.id } })
    : [];
  const groups = await all(errors.list({ limit: 100 }));
  const listed = await all(schedules.list());
  const known = await all(queues.list());
  const open = await all(sessions.list());
  const tokens = await all(wait.listTokens({ status: 'WAITING' }));
  const endpoints = await notifications.listEndpoints();
  const bulk = await all(runs.bulk.list());
  const sent = await all(events.list({ limit: 100 }));
  const deployed = await all(deployments.list());
  const revisions = await all(envvars.history());
  const pictures = await newestId({ taskIdentifier: 'resize-image', status: 'COMPLETED' });
  const [failing] = (await notifications.listDeliveries({ endpoint: failingEndpoints(endpoints) })).data;
  const picture =
    pictures && (await call({ url, token: secretKey }, 'retrieveRun', { params: { runId: pictures } }));
  return {
    counts: {
      tasks: (await tasks.list()).length,
      versions: deployed.length,
      runs: (await runs.count()).count,
      errorGroups: groups.length,
      schedules: listed.length,
      inactiveSchedules: listed.filter(({ active }) => !active).length,
      timezones: new Set(listed.map(({ timezone }) => timezone)).size,
      queues: known.length,
      pausedQueues: known.filter(({ paused }) => paused).length,
      sessions: open.length,
      waitingTokens: tokens.length,
      bulkActions: bulk.length,
      events: sent.length,
      endpoints: endpoints.length,
      alerts: (await alerts.list()).length,
      variables: (await envvars.list()).length,
      revisions: revisions.length,
      members: members.length,
    },
    open: {
      failedRun: await newestId({ taskIdentifier: 'reserve-stock', status: 'FAILED' }),
      crashedRun: await newestId({ status: 'CRASHED' }),
      timedOutRun: await newestId({ status: 'TIMED_OUT' }),
      expiredRun: await newestId({ status: 'EXPIRED' }),
      canceledRun: await newestId({ status: 'CANCELED' }),
      runWithChildren: await newestId({ taskIdentifier: 'checkout', status: 'COMPLETED' }),
      waitingRun: await newestId({ taskIdentifier: 'refund', status: 'WAITING' }),
      queuedRun: await newestId({ queue: newsletter, status: 'QUEUED' }),
      delayedRun: await newestId({ status: 'DELAYED' }),
      pendingVersionRun: await newestId({ status: 'PENDING_VERSION' }),
      errorGroup: groups.find(({ errorMessage }) => errorMessage.includes("reading 'code'"))?.id ?? null,
      resolvedErrorGroup: groups.find(({ status }) => status === 'resolved')?.id ?? null,
      ignoredErrorGroup: groups.find(({ status }) => status === 'ignored')?.id ?? null,
      regressedErrorGroup:
        groups.find(({ errorMessage }) => errorMessage.includes('postcode is not valid'))?.id ?? null,
      batch: (picture && picture.batchId) || null,
      bulkAction: bulk[0]?.id ?? null,
      session: open.find(({ closedAt }) => closedAt === null)?.id ?? null,
      token: tokens[0]?.id ?? null,
      event: sent.find(({ name }) => name === 'customer.registered')?.id ?? null,
      schedule: listed.find(({ task }) => task === 'exchange-rates')?.id ?? null,
      scheduleWithMissedTicks: listed.find(({ task }) => task === 'close-books')?.id ?? null,
      inactiveSchedule: listed.find(({ active }) => !active)?.id ?? null,
      failingEndpoint: failingEndpoints(endpoints)[0] ?? null,
      delivery: failing?.id ?? null,
      version: deployed[0]?.version ?? null,
    },
  };
}

const failingEndpoints = (endpoints: Awaited<ReturnType<typeof notifications.listEndpoints>>): string[] =>
  endpoints.filter(({ url }) => url.endsWith('legacy-crm')).map(({ id }) => id);

/** The newest run that matches. */
const newestId = async (which: ListRunsParams): Promise<string | null> =>
  (await runs.list({ ...which, limit: 1 })).data[0]?.id ?? null;
