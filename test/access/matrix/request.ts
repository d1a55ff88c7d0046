import { fromPage } from '../browser/tab.ts';
import { checkedErrorCode } from '../../support/error-code.ts';
import { sampleOf, type Schema } from '../sample.ts';
import { deploymentOf, savedChart, type Parameters, type World } from './world.ts';

/** A route of the OpenAPI document. */
export interface Route {
  /** `POST /api/v1/errors/{errorId}/resolve` */
  readonly name: string;
  readonly parameters: readonly string[];
  readonly query: string;
  readonly contentType: string;
  readonly schema: Schema | undefined;
}

interface Described {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** Every route that the server lists. */
export async function routesOf(url: string): Promise<Route[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  };
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]): Route => {
      const query = new URLSearchParams();
      for (const { name, schema } of parameters.filter((each) => each.in === 'query' && each.required)) {
        query.set(name, String(sampleOf(schema)));
      }
      const [contentType = 'application/json', content] =
        Object.entries(requestBody?.content ?? {}).find(([type]) => !type.includes('multipart')) ?? [];
      return {
        name: `${method.toUpperCase()} ${path}`,
        parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
        query: query.size > 0 ? `?${query.toString()}` : '',
        contentType,
        schema: content?.schema,
      };
    }),
  );
}

/** Bodies that their schema alone does not produce, of requests that a world accepts. */
const bodies: Readonly<Record<string, (world: World) => unknown>> = {
  'POST /api/v1/tasks/trigger-many': ({ task }) => ({ items: [{ task }] }),
  'POST /api/v1/idempotencyKeys/{key}/reset': ({ task }) => ({ taskIdentifier: task }),
  'POST /api/v3/batches': ({ task }) => ({ runCount: 1, taskIdentifiers: [task] }),
  'POST /api/v2/tasks/batch': ({ task }) => ({ items: [{ task }] }),
  'POST /api/v1/runs/{runId}/reschedule': () => ({ delay: '1h' }),
  'PUT /api/v1/runs/{runId}/metadata': () => ({ metadata: { seen: true } }),
  'PUT /api/v1/runs/{runId}/steps': () => ({
    fence: 1,
    name: 'a',
    kind: 'RUN',
    status: 'COMPLETED',
    seq: 1,
    tries: 1,
    tookMs: 1,
  }),
  'POST /api/v1/bulk-actions': ({ runId }) => ({ action: 'cancel', runIds: [runId] }),
  'POST /api/v1/erasures': () => ({ runIds: ['run_none'] }),
  'POST /api/v1/run-archive': () => ({}),
  'PUT /api/v1/retention': () => ({ runsDays: 30 }),
  'POST /api/v1/projects/{projectRef}/charts/{env}': () => savedChart,
  'PATCH /api/v1/projects/{projectRef}/charts/{env}/{chartId}': () => ({ name: 'other' }),
  'PUT /api/v1/projects/{projectRef}/model-prices': () => ({ model: 'x', input: '1', output: '2' }),
  'POST /api/v1/errors/{errorId}/link': () => ({ ticketUrl: 'https://example.com/1' }),
  'POST /api/v1/projects/{projectRef}/error-rules': () => ({ type: 'x', groupKey: 'x' }),
  'POST /api/v1/projects/{projectRef}/error-rules/preview': () => ({ type: 'x', groupKey: 'x' }),
  'POST /api/v1/schedules': ({ task }) => ({
    task: task.replace('mail', 'tick'),
    cron: '0 0 1 1 *',
    deduplicationKey: `${Math.random()}`,
  }),
  'PUT /api/v1/schedules/{scheduleId}': ({ task }) => ({
    task: task.replace('mail', 'tick'),
    cron: '0 0 1 1 *',
  }),
  'POST /api/v1/schedules/{scheduleId}/backfill': () => ({
    from: '2026-01-02T00:00:00Z',
    to: '2026-01-03T00:00:00Z',
  }),
  'POST /api/v1/events': () => ({ id: `${Math.random()}`, event: {} }),
  'POST /api/v1/outbox': ({ task }) => ({ items: [{ id: `run_${'0'.repeat(24)}`, task }] }),
  'POST /api/v1/event-batches': () => ({ events: [{ id: `${Math.random()}`, event: {} }] }),
  'POST /api/v1/sessions': ({ task }) => ({
    type: 'chat',
    taskIdentifier: task,
    triggerConfig: { basePayload: {} },
  }),
  'POST /api/v1/sessions/{session}/end-and-continue': ({ runId }) => ({ callingRunId: runId, reason: 'x' }),
  'POST /api/v1/projects/{projectRef}/notifications/{env}/endpoints': () => ({
    url: 'http://127.0.0.1:9/',
    types: ['run.failed'],
  }),
  'POST /api/v1/run-paths': () => ({ path: 'metadata.another' }),
  'POST /api/v1/projects/{projectRef}/alerts/{env}': () => ({ kind: 'error.new' }),
  'PATCH /api/v1/projects/{projectRef}/alerts/{env}/{alertId}': () => ({ threshold: 2 }),
  'POST /api/v1/projects/{projectRef}/envvars/{env}': () => ({ name: 'ANOTHER', value: 'x' }),
  'POST /api/v1/projects/{projectRef}/envvars/{env}/import': () => ({
    variables: { MORE: 'x' },
    override: true,
  }),
  'POST /api/v1/projects/{projectRef}/envvar-revisions/{env}/rollback': () => ({ revision: 1 }),
  'POST /runner/v1/versions': ({ task }) => ({
    contentHash: 'c'.repeat(64),
    tasks: [
      { id: task, filePath: 'a.ts' },
      { id: task.replace('mail', 'tick'), filePath: 'a.ts', scheduled: true },
    ],
  }),
  'POST /api/v1/deployments': ({ task }) => deploymentOf('another', task, task.replace('mail', 'tick')).body,
  'POST /api/v1/deployments/{deploymentId}/fail': () => ({ error: { name: 'Error', message: 'x' } }),
  // A run delegates access to single objects only.
  'POST /api/v1/auth/public-tokens': ({ runId }) => ({ scopes: [`read:runs:${runId}`] }),
  'POST /api/v1/projects/{projectRef}/branches': () => ({ branch: 'feature', env: 'preview' }),
  'POST /api/v1/projects/{projectRef}/branches/archive': () => ({ branch: 'none', env: 'preview' }),
  'POST /api/v1/browser-sessions': () => ({ token: 'none' }),
  'PUT /api/v1/password': () => ({ password: null }),
  'POST /api/v1/orgs/{organization}/invites': () => ({ email: 'somebody@example.com' }),
  'PATCH /api/v1/orgs/{organization}/members/{userId}': () => ({ role: 'viewer' }),
};

/** Parameters of a route's path that are objects, not places; another environment may have them as well. */
const places = new Set(['projectRef', 'organization', 'env', 'target', 'channel', 'field']);
export const objectsOf = (route: Route): string[] => route.parameters.filter((name) => !places.has(name));
export const placesOf = (route: Route): string[] =>
  route.parameters.filter((name) => name === 'projectRef' || name === 'organization');

export interface Sent {
  readonly status: number;
  /** Empty where the reply is a stream. */
  readonly text: string;
}

export async function send(
  url: string,
  route: Route,
  parameters: Parameters,
  world: World,
  credential: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Sent> {
  const [method = '', template = ''] = route.name.split(' ');
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? 'x');
  const body = route.contentType.includes('ndjson')
    ? `${JSON.stringify({ index: 0, task: world.task })}\n`
    : route.contentType.includes('json')
      ? route.schema &&
        JSON.stringify((bodies[route.name] ?? (() => sampleOf(route.schema as Schema)))(world))
      : '{}';
  const response = await fetch(`${url}${path}${route.query}`, {
    method,
    headers: {
      ...(credential !== '' && {
        authorization: credential.includes(' ') ? credential : `Bearer ${credential}`,
      }),
      // Only the page of the dashboard logs in.
      ...(route.name === 'POST /api/v1/browser-sessions' && fromPage),
      'content-type': /json|octet-stream/.test(route.contentType) ? route.contentType : 'text/plain',
      ...headers,
    },
    ...(method !== 'GET' && method !== 'HEAD' && body !== undefined && { body }),
    signal: AbortSignal.timeout(20_000),
  });
  checkedErrorCode(response);
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return { status: response.status, text: '' };
  }
  return { status: response.status, text: await response.text() };
}
