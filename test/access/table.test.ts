import { operations, roles, type Access, type OperationDeclaration } from '@millrace/contract';
import { describe, expect, test } from 'vitest';
import { bundleOf } from '../../packages/server/src/versions/deployments/testing/bundle.ts';
import { isLong } from '../support/long.ts';
import { installation, type Installation } from './installation.ts';
import { sampleOf, type Schema } from './sample.ts';

/** Bodies that cannot be created from their schema alone: where a call is 400 instead of 403, one is missing here. */
const bodies: Readonly<Record<string, unknown>> = {
  linkError: { ticketUrl: null },
  deliverOutbox: { items: [{ id: `run_${'0'.repeat(24)}`, task: 'task' }] },
  createSchedule: { task: 'x', cron: '0 0 * * *', deduplicationKey: 'x' },
  updateSchedule: { task: 'x', cron: '0 0 * * *' },
  previewSchedule: { cron: '0 0 * * *' },
  createNotificationEndpoint: { url: 'https://example.com/hook', types: ['*'] },
  declareRunPath: { path: 'metadata.customer' },
  createAlert: { kind: 'error.new' },
  createPublicToken: { scopes: ['read:runs'] },
  createBulkAction: { action: 'cancel', runIds: ['run_x'] },
  createErrorRule: { type: 'x', groupKey: 'x' },
  previewErrorRule: { type: 'x', groupKey: 'x' },
  createDeployment: bundleOf({}).body,
  registerVersion: { contentHash: 'a'.repeat(64), tasks: [] },
};

interface Route {
  readonly id: string;
  readonly method: string;
  readonly access: Access;
  readonly path: string;
  /** The id in the path that a scope can be limited to. */
  readonly object: string | undefined;
  readonly contentType: string;
  readonly body: string | undefined;
}

const objectParameters: Readonly<Record<string, string>> = {
  runs: 'runId',
  tasks: 'taskId',
  batch: 'batchId',
  errors: 'errorId',
  sessions: 'session',
  waitpoints: 'waitpointId',
};

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: { readonly 'application/json'?: { readonly schema: Schema } } };
}

/** Every route of the document that the server returns, with a valid request. */
async function routesOf({ server, projectRef, organization }: Installation): Promise<Route[]> {
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  };
  const declared: Readonly<Record<string, OperationDeclaration>> = operations;
  return Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters = [], requestBody }]): Route => {
      const access = declared[operationId]?.access;
      if (!access) throw new Error(`${operationId} is served but not declared`);
      const examples: Readonly<Record<string, string>> = {
        blob: '0'.repeat(64),
        projectRef,
        organization,
        env: access.wholeEnvironment ? 'preview' : 'prod',
      };
      const values = new Map(
        parameters
          .filter((parameter) => parameter.in === 'path')
          .map(({ name, schema }) => [name, examples[name] ?? String(sampleOf(schema))]),
      );
      const query = new URLSearchParams();
      for (const { name, schema } of parameters.filter((each) => each.in === 'query' && each.required)) {
        query.set(name, String(sampleOf(schema)));
      }
      const schema = requestBody?.content['application/json']?.schema;
      const [contentType = 'application/json'] = Object.keys(requestBody?.content ?? {});
      const path = template.replace(/\{(\w+)\}/g, (_, name: string) => values.get(name) ?? '');
      return {
        id: operationId,
        method: method.toUpperCase(),
        access,
        path: query.size > 0 ? `${path}?${query.toString()}` : path,
        object: values.get(objectParameters[access.on ?? ''] ?? ''),
        contentType: /ndjson|octet-stream/.test(contentType) ? contentType : 'application/json',
        // A stream of lines needs none to be rejected.
        body: contentType.includes('ndjson')
          ? '\n'
          : schema && JSON.stringify(bodies[operationId] ?? sampleOf(schema)),
      };
    }),
  );
}

/** A caller that may trigger any task may call these: access is checked before the task is known. */
const anyTaskWill = new Set(['createPacket', 'createPacketV1', 'createBatch']);

/** The access part of a reply; everything after that (404, 422 …) is the operation's own concern. */
type Verdict = 'in' | 401 | 403 | 404 | 'either';

interface Caller {
  readonly name: string;
  credential(route: Route): Promise<string> | string;
  expected(route: Route): Verdict;
}

const anybodyOr =
  (refusal: Verdict) =>
  ({ access }: Route): Verdict =>
    access.open ? 'in' : refusal;

/** The effect of scopes: `covered` when they cover the operation. */
const scoped =
  (kind: 'secretKey' | 'publicToken', covered: boolean | 'pinned' | 'elsewhere') =>
  ({ id, access, object }: Route): Verdict => {
    if (access.open) return 'in';
    if (!access[kind]) return kind === 'publicToken' && access.forbidsPublicToken ? 403 : 401;
    // The caller needs the scopes that it delegates.
    if (access.anyScope) return id === 'createPublicToken' && covered !== true ? 403 : 'in';
    if (access.action === undefined) return 403;
    if (covered === 'elsewhere') return anyTaskWill.has(id) ? 'in' : 403;
    if (covered !== 'pinned') return covered ? 'in' : 403;
    // An object that the body names may be the one, where the handler checks objects.
    return object === undefined ? (access.objects ? 'either' : 403) : 'in';
  };

const user =
  (role: string | undefined) =>
  ({ access }: Route): Verdict => {
    if (access.open) return 'in';
    if (!access.personalAccessToken) return 401;
    if (access.installation) return role === 'owner' ? 'in' : 403;
    if (access.role === undefined) return 'in';
    if (role === undefined) return 404;
    return roles.indexOf(role as never) >= roles.indexOf(access.role) ? 'in' : 403;
  };

async function callersOf(installed: Installation): Promise<Caller[]> {
  const { keys, keyWith, sign, publicIdOf, token, userWith, ask, sql } = installed;
  const ids = { prod: await publicIdOf('prod'), preview: await publicIdOf('preview') };
  // Operations on a whole environment use preview, whose keys create branches.
  const kindOf = ({ access }: Route) => (access.wholeEnvironment ? 'preview' : 'prod');
  const rootOf = (route: Route) => keys[kindOf(route)];
  const scopeOf = ({ access }: Route) => `${access.action ?? 'read'}:${access.on ?? 'runs'}`;
  const pinnedOf = (route: Route) => `${scopeOf(route)}:${route.object ?? 'x'}`;
  const restricted = new Map<string, Promise<string>>();
  const keyFor = (scope: string, kind: 'prod' | 'preview') => {
    const name = `${kind} ${scope}`;
    const key = restricted.get(name) ?? keyWith([scope], kind);
    restricted.set(name, key);
    return key;
  };
  const tokenFor = (route: Route, scopes: readonly string[], more: object = {}) =>
    sign(rootOf(route), { sub: ids[kindOf(route)], scopes, jti: Math.random(), ...more });
  const others = await Promise.all(['viewer', 'member', 'admin'].map((role) => userWith(role)));
  const stranger = (
    await ask('POST /api/v1/invites/join', {
      key: '',
      body: {
        token: (
          await ask(
            `POST /api/v1/orgs/${(await ask('POST /api/v1/orgs', { body: { name: 'Elsewhere' } })).body.id}/invites`,
            { body: { email: 's@example.com', role: 'owner' } },
          )
        ).body.token,
        name: 'Stranger',
      },
    })
  ).body.personalAccessToken as string;
  const [ended, revoked] = [await keyWith(['admin']), await keyWith(['admin'])];
  await sql`update secret_keys set expires_at = now() - interval '1 second' where last_four = ${ended.slice(-4)}`;
  await sql`update secret_keys set revoked_at = now() where last_four = ${revoked.slice(-4)}`;
  const now = Math.floor(Date.now() / 1_000);

  const refused = (name: string, credential: Caller['credential']): Caller => ({
    name,
    credential,
    expected: anybodyOr(401),
  });
  const keyRoute = (route: Route): Verdict =>
    route.access.open ? 'in' : route.access.secretKey ? 'in' : 401;
  return [
    refused('nothing', () => ''),
    refused('garbage', () => 'garbage'),
    refused('an unknown key', () => 'svc_prod_sk_000000000000000000000000'),
    refused('a truncated key', () => keys.prod.slice(0, -1)),
    refused('a key with the wrong marker', () => keys.prod.replace('svc_', 'sk_')),
    refused('an expired key', () => ended),
    refused('a revoked key', () => revoked),
    { name: 'a full key', credential: rootOf, expected: keyRoute },
    {
      name: 'a full key as tr_',
      credential: (route) => rootOf(route).replace('svc_', 'tr_'),
      expected: keyRoute,
    },
    {
      name: 'a restricted key with the scope',
      credential: (route) => keyFor(scopeOf(route), kindOf(route)),
      expected: scoped('secretKey', true),
    },
    {
      name: 'a restricted key pinned to the object',
      credential: (route) => keyFor(pinnedOf(route), kindOf(route)),
      expected: scoped('secretKey', 'pinned'),
    },
    {
      name: 'a restricted key pinned to another',
      credential: (route) => keyFor(`${scopeOf(route)}:other`, kindOf(route)),
      expected: scoped('secretKey', 'elsewhere'),
    },
    {
      name: 'a restricted key with another scope',
      credential: (route) => keyFor('read:prompts', kindOf(route)),
      expected: scoped('secretKey', false),
    },
    { name: "an owner's token", credential: () => token, expected: user('owner') },
    ...others.map((each, index): Caller => {
      const role = ['viewer', 'member', 'admin'][index] ?? '';
      return { name: `a ${role}'s token`, credential: () => each.token, expected: user(role) };
    }),
    { name: "a stranger's token", credential: () => stranger, expected: user(undefined) },
    {
      name: 'a public token with the scope',
      credential: (route) => tokenFor(route, [scopeOf(route)]),
      expected: scoped('publicToken', true),
    },
    {
      name: 'a public token pinned to the object',
      credential: (route) => tokenFor(route, [pinnedOf(route)]),
      expected: scoped('publicToken', 'pinned'),
    },
    {
      name: 'a public token pinned to another',
      credential: (route) => tokenFor(route, [`${scopeOf(route)}:other`]),
      expected: scoped('publicToken', 'elsewhere'),
    },
    {
      name: 'a public token with another scope',
      credential: (route) => tokenFor(route, ['read:prompts']),
      expected: scoped('publicToken', false),
    },
    {
      name: 'a public token without scopes',
      credential: (route) => tokenFor(route, []),
      expected: scoped('publicToken', false),
    },
    {
      name: 'a one-time token with the scope',
      credential: (route) => tokenFor(route, [scopeOf(route)], { otu: true }),
      expected: (route) => {
        const { access, method } = route;
        const verdict = scoped('publicToken', true)(route);
        return verdict === 'in' && !access.open && !access.anyScope && !access.oneTime && method !== 'GET'
          ? 403
          : verdict;
      },
    },
    refused('an expired public token', (route) => tokenFor(route, [scopeOf(route)], { exp: now - 1 })),
    refused('a public token from the future', (route) =>
      tokenFor(route, [scopeOf(route)], { iat: now + 3_600 }),
    ),
    refused('a public token with alg none', (route) =>
      sign(rootOf(route), { sub: ids[kindOf(route)], scopes: ['admin'] }, { alg: 'none' }),
    ),
    refused("a public token with another environment's sub", (route) =>
      sign(keys.stg, { sub: ids[kindOf(route)], scopes: ['admin'] }),
    ),
    refused('a public token for another audience', (route) =>
      tokenFor(route, ['admin'], { aud: 'https://example.com' }),
    ),
  ];
}

/** A user who has left has no role in later requests. */
const leavingLast = (a: Route, other: Route): number =>
  Number(a.id === 'leaveOrganization') - Number(other.id === 'leaveOrganization');

const fits = (expected: Verdict, status: number): boolean => {
  if (status >= 500) return false;
  if (expected === 'in') return status !== 401 && status !== 403;
  if (expected === 'either') return status !== 401;
  return status === expected;
};

describe('the table', () => {
  test(
    'matches the behavior of every route of the document for every kind of credential',
    { timeout: 120_000 },
    async () => {
      const installed = await installation();
      const routes = (await routesOf(installed)).toSorted(leavingLast);
      expect(routes.map(({ id }) => id).toSorted()).toEqual(Object.keys(operations).toSorted());
      const callers = await callersOf(installed);
      const wrong: unknown[] = [];
      let calls = 0;
      // The rejected callers go first, so that changes by the others cannot hide a fault. Each has the next third of the routes, unless the
      // run is long.
      for (const [turn, caller] of callers.entries()) {
        for (const route of routes.filter((_, index) => isLong || (index + turn) % 3 === 0)) {
          const credential = await caller.credential(route);
          const response = await fetch(installed.server.url + route.path, {
            method: route.method,
            headers: {
              ...(credential !== '' && { authorization: `Bearer ${credential}` }),
              'content-type': route.contentType,
            },
            ...(route.body !== undefined && { body: route.body }),
            signal: AbortSignal.timeout(10_000),
          });
          calls += 1;
          const { status } = response;
          const expected = caller.expected(route);
          if (!fits(expected, status)) {
            wrong.push({
              route: route.id,
              caller: caller.name,
              expected,
              status,
              body: await response.text(),
            });
          } else await response.body?.cancel();
        }
      }
      expect(wrong).toEqual([]);
      const ofEach = isLong ? routes.length : Math.floor(routes.length / 3);
      expect(calls).toBeGreaterThanOrEqual(ofEach * callers.length);
      expect(installed.logged.filter((line) => line.includes('request.failed'))).toEqual([]);
      const secrets = /(?:svc|tr)_(?:\w+_sk|pat|inv)_[0-9A-Za-z]{20,}|eyJ[\w-]{20,}\./;
      expect(installed.logged.filter((line) => secrets.test(line))).toEqual([]);
    },
  );
});
