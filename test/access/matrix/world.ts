import { startTestRunner } from '../../../packages/server/src/notifications/testing/runner.ts';
import {
  bundleOf,
  type TestBundle,
} from '../../../packages/server/src/versions/deployments/testing/bundle.ts';
import { fromPage, logIn } from '../browser/tab.ts';
import type { Installation } from '../installation.ts';
import type { Things } from './rules.ts';

/** The name of a parameter of a path, and its value. */
export type Parameters = Readonly<Record<string, string>>;

/** One object of each kind in one environment, as parameters of paths. */
export interface World extends Things {
  readonly key: string;
  /** The token of a user with all permissions in it. */
  readonly token: string;
  readonly parameters: Parameters;
}

interface Site {
  readonly key: string;
  readonly token: string;
  readonly projectRef: string;
  readonly organization: string;
  readonly env: string;
  /** Part of the name of every object in it. */
  readonly name: string;
}

/** A chart that any environment can have. */
export const savedChart = { name: 'Runs', measure: 'runs', period: '24h', form: 'line' };

/** Fills an environment with one object of each kind, over the API. */
export async function fill({ ask, server, sql }: Installation, site: Site): Promise<World> {
  const { key, token, projectRef, organization, env, name } = site;
  const task = `mail-${name}`;
  const failing = `fails-${name}`;
  const scheduled = `tick-${name}`;
  const project = `/api/v1/projects/${projectRef}`;
  const did = async (request: string, body?: unknown, as = key, headers = {}) => {
    const answer = await ask(request, { key: as, headers, ...(body !== undefined && { body }) });
    if (answer.status >= 300) throw new Error(`${request}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const endpoint = await did(`POST ${project}/notifications/${env}/endpoints`, {
    url: 'http://127.0.0.1:9/',
    types: ['*'],
  });
  const first = await did('POST /runner/v1/versions', {
    contentHash: `${name}-1`.padEnd(64, '0'),
    tasks: [{ id: failing, filePath: 'a.ts' }],
  });
  await did(`POST /api/v1/deployments/${first.version}/promote?force=true`);
  await startTestRunner(server.url, key, [first.version]);
  const failed = await did(`POST /api/v1/tasks/${failing}/trigger`, { payload: 'boom' });
  const until = async <T>(what: string, read: () => Promise<T | undefined>): Promise<T> => {
    for (const end = Date.now() + 20_000; Date.now() < end;) {
      const found = await read();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`${name} has no ${what}`);
  };
  const error = await until('error', async () => (await did('GET /api/v1/errors')).data[0]);
  const delivery = await until(
    'delivery',
    async () => (await did(`GET ${project}/notifications/${env}/deliveries`)).data[0],
  );
  // From here on no runner serves the triggered runs, so their state does not change.
  const { body, blobs } = deploymentOf(name, task, scheduled);
  const deployment = await did('POST /api/v1/deployments', body);
  for (const [blob, data] of blobs) {
    const sent = await fetch(`${server.url}/api/v1/deployments/${deployment.id}/blobs/${blob}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream' },
      body: data,
    });
    if (!sent.ok) throw new Error(await sent.text());
  }
  await did(`POST /api/v1/deployments/${deployment.id}/finalize`);
  await did(`POST /api/v1/deployments/${deployment.id}/promote?force=true`);
  const [runner] = (await did('GET /api/v1/runners')).data as { id: string }[];
  const tag = `tag-${name}`;
  const packet = `packet-${name}`;
  const { presignedUrl } = await did(`PUT /api/v2/packets/${packet}`);
  await fetch(presignedUrl, { method: 'PUT', body: '"large"' });
  const batch = await did('POST /api/v2/tasks/batch', {
    items: [{ task, payload: packet, options: { tags: [tag], payloadType: 'application/store' } }],
  });
  const runId = await until(
    'run of its batch',
    async () => (await did(`GET /api/v2/batches/${batch.id}`)).runs[0] as string | undefined,
  );
  await did(`PUT /realtime/v1/streams/${runId}/self/stream-${name}`);
  const externalId = `session-of-${name}`;
  const session = await did('POST /api/v1/sessions', {
    type: 'chat',
    taskIdentifier: task,
    externalId,
    triggerConfig: { basePayload: {} },
  });
  const waitpoint = await did('POST /api/v1/waitpoints/tokens', {});
  const schedule = await did('POST /api/v1/schedules', {
    task: scheduled,
    cron: '0 0 1 1 *',
    deduplicationKey: `schedule-${name}`,
  });
  const event = await did('POST /api/v1/events', {
    id: `event-${name}`,
    event: { name: 'x', deliverAfter: 100_000 },
  });
  const [webhook] = (await did('GET /api/v1/webhooks')).data as { url: string }[];
  const webhookDelivery = (await (await fetch(webhook?.url ?? '', { method: 'POST' })).json()) as {
    id: string;
  };
  const rule = await did(`POST ${project}/error-rules`, { type: `Never${name}`, groupKey: name }, token);
  const chart = await did(`POST ${project}/charts/${env}`, savedChart, token);
  const { model } = await did(
    `PUT ${project}/model-prices`,
    { model: `model-${name}`, input: '1', output: '2' },
    token,
  );
  await did(`POST ${project}/envvars/${env}`, { name: `VAR_${name}`, value: 'x' });
  const { path } = await did('POST /api/v1/run-paths', { path: `metadata.of-${name}` });
  const alert = await did(`POST ${project}/alerts/${env}`, { kind: 'schedule.missed' });
  const bulk = await did('POST /api/v1/bulk-actions', { action: 'cancel', runIds: ['run_none'] });
  const erasure = await did('POST /api/v1/erasures', { filter: { version: ['20200101.1'] } });
  const queues = (await did('GET /api/v1/queues?perPage=100')).data as { id: string; name: string }[];
  const named = await did(`POST ${project}/${env}/keys`, { name }, token);
  const created = await did('POST /api/v1/tokens', { name }, token);
  const invitation = await did(
    `POST /api/v1/orgs/${organization}/invites`,
    { email: `${name}@example.com` },
    token,
  );
  const [user] = await sql<{ id: string }[]>`
    select m.user_id as id from memberships m where m.organization_id = ${organization} order by m.user_id limit 1`;
  return {
    key,
    token,
    task,
    runId,
    tag,
    batchId: batch.id,
    session: session.id,
    externalId,
    errorId: error.id,
    waitpointId: waitpoint.id,
    parameters: {
      projectRef,
      organization,
      env,
      taskId: task,
      key: `key-${name}`,
      batchId: batch.id,
      runId,
      target: 'self',
      stream: `stream-${name}`,
      packet,
      field: 'payload',
      bulkActionId: bulk.id,
      erasureId: erasure.id,
      queue: queues.find((queue) => queue.name.endsWith(task))?.id ?? '',
      waitpointId: waitpoint.id,
      hash: String(waitpoint.url).split('/').at(-1) ?? '',
      errorId: error.id,
      ruleId: rule.id,
      scheduleId: schedule.id,
      deduplicationKey: `schedule-${name}`,
      eventId: event.id,
      session: session.id,
      channel: 'side',
      endpointId: endpoint.id,
      alertId: alert.id,
      model,
      chartId: chart.id,
      path,
      deliveryId: delivery.id,
      webhookDeliveryId: webhookDelivery.id,
      // of a variable, and of a shared limit
      name: `VAR_${name}`,
      keyId: named.id,
      tokenId: created.id,
      sessionId: (await did('POST /api/v1/browser-sessions', { accessToken: token }, '', fromPage)).session
        .id,
      userId: user?.id ?? failed.id,
      invitationId: invitation.id,
      deploymentId: deployment.id,
      version: deployment.id,
      blob: [...blobs.keys()][0] ?? '',
      runnerId: runner?.id ?? '',
    },
  };
}

/** A deployment with these tasks. A different name creates a different one. */
export const deploymentOf = (name: string, task: string, scheduled: string): TestBundle =>
  bundleOf(
    { 'name.js': name },
    {
      tasks: [task, scheduled, `hook-${name}`],
      more: {
        tasks: [
          {
            id: task,
            filePath: 'a.ts',
            queue: { name: `task/${task}`, concurrency: { name: `VAR_${name}`, limit: 9 } },
          },
          { id: scheduled, filePath: 'a.ts', scheduled: true },
          { id: `hook-${name}`, filePath: 'a.ts', webhook: { verify: { scheme: 'none' as const } } },
        ],
      },
    },
  );

/** Parameters for a request that may use its object up, or needs it in a certain state: with another such object in these cases. */
export async function fresh(
  installed: Installation,
  world: World,
  route: string,
  credential: string,
): Promise<Parameters> {
  const { ask } = installed;
  const { parameters, key, token, task } = world;
  const { projectRef, organization, env } = parameters;
  const project = `/api/v1/projects/${projectRef}`;
  const create = async (request: string, body: unknown, as = key) =>
    (await ask(request, { key: as, body })).body;
  const name = `${Math.random()}`;
  const triggered = async (options: object) =>
    (await create(`POST /api/v1/tasks/${task}/trigger`, { options })).id as string;
  switch (route) {
    case 'POST /api/v1/idempotencyKeys/{key}/reset':
      await triggered({ idempotencyKey: name });
      return { ...parameters, key: name };
    case 'POST /api/v1/runs/{runId}/reschedule':
      return { ...parameters, runId: await triggered({ delay: '1h' }) };
    case 'PUT /api/v1/runs/{runId}/metadata':
      return { ...parameters, runId: await triggered({}) };
    case 'POST /api/v1/sessions/{session}/close': {
      const session = { type: 'chat', taskIdentifier: task, triggerConfig: { basePayload: {} } };
      return { ...parameters, session: (await create('POST /api/v1/sessions', session)).id };
    }
    case 'POST /api/v1/tokens/{tokenId}/revoke':
      return { ...parameters, tokenId: (await create('POST /api/v1/tokens', { name }, credential)).id };
    case 'DELETE /api/v1/browser-sessions/{sessionId}':
      return { ...parameters, sessionId: (await logIn(installed, { accessToken: credential })).id };
    case 'DELETE /api/v1/schedules/{scheduleId}': {
      const schedule = { task: task.replace('mail', 'tick'), cron: '0 0 1 1 *', deduplicationKey: name };
      return { ...parameters, scheduleId: (await create('POST /api/v1/schedules', schedule)).id };
    }
    case 'DELETE /api/v1/projects/{projectRef}/error-rules/{ruleId}': {
      const { id } = await create(`POST ${project}/error-rules`, { type: name, groupKey: name });
      return { ...parameters, ruleId: id };
    }
    case 'DELETE /api/v1/projects/{projectRef}/charts/{env}/{chartId}': {
      const { id } = await create(`POST ${project}/charts/${env}`, savedChart, token);
      return { ...parameters, chartId: id };
    }
    case 'DELETE /api/v1/projects/{projectRef}/model-prices/{model}':
      await create(`PUT ${project}/model-prices`, { model: name, input: '1', output: '2' }, token);
      return { ...parameters, model: name };
    case 'DELETE /api/v1/projects/{projectRef}/notifications/{env}/endpoints/{endpointId}': {
      const { id } = await create(`POST ${project}/notifications/${env}/endpoints`, {
        url: 'http://127.0.0.1:9/',
        types: ['run.failed'],
      });
      return { ...parameters, endpointId: id };
    }
    case 'DELETE /api/v1/run-paths/{path}': {
      const path = `metadata.m${name.slice(2)}`;
      await create('POST /api/v1/run-paths', { path });
      return { ...parameters, path };
    }
    case 'DELETE /api/v1/projects/{projectRef}/alerts/{env}/{alertId}':
      return {
        ...parameters,
        alertId: (await create(`POST ${project}/alerts/${env}`, { kind: 'error.new' })).id,
      };
    case 'DELETE /api/v1/projects/{projectRef}/envvars/{env}/{name}':
      await create(`POST ${project}/envvars/${env}`, { name: 'USED_UP', value: 'x' });
      return { ...parameters, name: 'USED_UP' };
    case 'POST /api/v1/projects/{projectRef}/{env}/keys/{keyId}/revoke':
    case 'POST /api/v1/projects/{projectRef}/{env}/keys/{keyId}/rotate':
      return { ...parameters, keyId: (await create(`POST ${project}/${env}/keys`, { name }, token)).id };
    case 'POST /api/v1/orgs/{organization}/invites/{invitationId}/revoke': {
      const email = `${name}@example.com`;
      const { id } = await create(`POST /api/v1/orgs/${organization}/invites`, { email }, token);
      return { ...parameters, invitationId: id };
    }
    case 'PATCH /api/v1/orgs/{organization}/members/{userId}':
    case 'DELETE /api/v1/orgs/{organization}/members/{userId}': {
      const email = `${name}@example.com`;
      const invited = await create(`POST /api/v1/orgs/${organization}/invites`, { email }, token);
      const { userId } = await create('POST /api/v1/invites/join', { token: invited.token, name }, '');
      return { ...parameters, userId };
    }
    default:
      return parameters;
  }
}
