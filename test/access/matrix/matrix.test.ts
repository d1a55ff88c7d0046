import { describe, expect, test } from 'vitest';
import { isLong } from '../../support/long.ts';
import { installation, type Installation } from '../installation.ts';
import { known, ofOtherEnvironments, unknown, type Caller } from './callers.ts';
import { objectsOf, placesOf, routesOf, send, type Route, type Sent } from './request.ts';
import { changed, snapshot, type Part } from './snapshot.ts';
import { table, type Row } from './table.ts';
import { fill, fresh, type Parameters, type World } from './world.ts';

interface Stage {
  readonly installed: Installation;
  readonly routes: readonly (readonly [Route, Row])[];
  /** The callers' own environment: prod of the first project. */
  readonly own: World;
  /** Another environment of the same project. */
  readonly sibling: World;
  /** An environment of another organization. */
  readonly foreign: World;
}

async function stage(): Promise<Stage> {
  const installed = await installation({ notificationNetworks: ['127.0.0.0/8'] });
  const { ask, keys, token, projectRef, organization, server } = installed;
  const elsewhere = (await ask('POST /api/v1/orgs', { body: { name: 'Elsewhere' } })).body.id as string;
  const invited = await ask(`POST /api/v1/orgs/${elsewhere}/invites`, {
    body: { email: 'stranger@example.com', role: 'owner' },
  });
  const joined = await ask('POST /api/v1/invites/join', {
    key: '',
    body: { token: invited.body.token, name: 'Stranger' },
  });
  const stranger = joined.body.personalAccessToken as string;
  await ask(`POST /api/v1/orgs/${elsewhere}/leave`);
  const project = (
    await ask(`POST /api/v1/orgs/${elsewhere}/projects`, { key: stranger, body: { name: 'Theirs' } })
  ).body.id as string;
  const { apiKey } = (await ask(`GET /api/v1/projects/${project}/prod`, { key: stranger })).body as {
    apiKey: string;
  };
  const home = { token, projectRef, organization };
  const own = await fill(installed, { ...home, key: keys.prod, env: 'prod', name: 'own' });
  const sibling = await fill(installed, { ...home, key: keys.stg, env: 'stg', name: 'sibling' });
  const foreign = await fill(installed, {
    key: apiKey,
    token: stranger,
    projectRef: project,
    organization: elsewhere,
    env: 'prod',
    name: 'foreign',
  });
  const rows = new Map(table.map((row) => [row.route, row]));
  const served = await routesOf(server.url);
  expect(served.map(({ name }) => name).toSorted()).toEqual([...rows.keys()].toSorted());
  return {
    installed,
    routes: served.map((route) => [route, rows.get(route.name) as Row] as const),
    own,
    sibling,
    foreign,
  };
}

/** Runs them all, several at once. */
async function each<T>(things: readonly T[], act: (thing: T) => Promise<void>, atOnce = 8): Promise<void> {
  const left = things[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const thing of left) await act(thing);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

interface Pair {
  readonly route: Route;
  readonly row: Row;
  readonly caller: Caller;
}

const pairs = (routes: Stage['routes'], callers: readonly Caller[]): Pair[] =>
  routes.flatMap(([route, row]) =>
    callers
      // Where no public token is accepted, its scopes make no difference: a few are enough.
      .filter(({ isScopedToken }) => !isScopedToken || row.token !== false)
      .map((caller) => ({ route, row, caller })),
  );

/** Every scope is tried on a sixth of the routes, every route with a sixth of the scopes; in a long run all of them on all. */
const thinned = (routes: Stage['routes'], callers: readonly Caller[]): Pair[] =>
  pairs(routes, callers).filter(
    ({ route, caller }) =>
      isLong ||
      !caller.isScopedToken ||
      (routes.findIndex(([other]) => other === route) + callers.indexOf(caller)) % 6 === 0,
  );

const mismatch = ({ route, caller }: Pair, expected: unknown, sent: Sent) => ({
  route: route.name,
  caller: caller.name,
  expected,
  ...sent,
});

/** An id of the same form that does not exist. */
const nobodys = (value: string): string =>
  value.replace(/[^/%]{5}$/, /^[0-9a-f]{64}$/.test(value) ? '00000' : 'zzzz0');

/** Without scopes that differ by name alone. */
const nameless = (text: string, names: readonly string[]): string =>
  names
    .reduce((left, name) => left.replaceAll(decodeURIComponent(name), '<name>'), text)
    .replaceAll(/\b[a-z]+_[a-z0-9]{16,}\b/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/eyJ[\w.-]+/g, '<token>');

/** Statuses other than success that a permitted caller may get for the requests of the matrix. */
const otherwise: Readonly<Record<string, number>> = {
  // The object that it names does not exist.
  'POST /api/v1/errors/{errorId}/merge': 404,
  'POST /api/v1/errors/{errorId}/split': 404,
  'POST /api/v1/webhooks/{webhookId}/send': 404,
  'POST /api/v1/projects/{projectRef}/branches/archive': 404,
  'POST /api/v1/authorization-code/describe': 404,
  'POST /api/v1/authorization-code/approve': 404,
  'POST /api/v1/token': 404,
  // Its run may have ended, and then reads no messages.
  'POST /realtime/v1/streams/{runId}/input/{stream}': 400,
  'PUT /realtime/v1/streams/{runId}/input/{stream}': 400,
  // It is a link that does not exist.
  'POST /api/v1/browser-sessions': 401,
  'POST /api/v1/deployments/{version}/move': 404,
  'POST /api/v1/invites/accept': 404,
  'POST /api/v1/invites/join': 404,
  // Its run has no attempt.
  'GET /api/v1/runs/{runId}/steps/results': 409,
  'PUT /api/v1/runs/{runId}/steps': 409,
  // It is the current one, which was finalized and is not a canary.
  'POST /api/v1/deployments/{version}/archive': 409,
  'POST /api/v1/deployments/{version}/abort-canary': 409,
  'POST /api/v1/deployments/{deploymentId}/fail': 409,
  // It has ended.
  'POST /api/v1/bulk-actions/{bulkActionId}/abort': 422,
  'POST /api/v1/erasures/{erasureId}/abort': 422,
  // It was not confirmed, and prod cannot be deleted alone.
  'DELETE /api/v1/projects/{projectRef}': 400,
  'DELETE /api/v1/projects/{projectRef}/{env}': 422,
  // An organization needs an owner.
  'POST /api/v1/orgs/{organization}/leave': 422,
};

/** A user who has left has no role in later requests, and a user who has logged out no session. A new password logs all browsers out. */
const last = ['/leave', '/browser-sessions/current', '/password'];
const rankOf = ({ route: { name } }: Pair): number =>
  name.startsWith('GET ') ? -1 : last.findIndex((end) => name.endsWith(end));

/** Outside the callers' access: the sibling environment, and the other organization as a whole. */
async function partOf({ sql }: Installation, own: World, foreign: World): Promise<Part> {
  const rows = await sql<{ id: number; project: number; organization: string }[]>`
    select e.id, e.project_id as project, p.organization_id as organization
      from environments e join projects p on p.id = e.project_id
     where (p.ref = ${own.parameters['projectRef'] ?? ''} and e.kind = 'stg') or p.ref = ${foreign.parameters['projectRef'] ?? ''}`;
  const theirs = rows.filter(({ organization }) => organization === foreign.parameters['organization']);
  return {
    environments: rows.map(({ id }) => id),
    projects: theirs.map(({ project }) => project),
    organizations: theirs.map(({ organization }) => organization),
  };
}

/** The same names as a world's, changed so that they do not exist. */
const nobodysWorld = (world: World): World =>
  ({
    ...Object.fromEntries(
      Object.entries(world).map(([name, value]) => [
        name,
        typeof value === 'string' ? nobodys(value) : value,
      ]),
    ),
    parameters: Object.fromEntries(
      Object.entries(world.parameters).map(([name, value]) => [name, nobodys(value)]),
    ),
  }) as World;

const namesOf = ({ parameters, task, runId, errorId, externalId }: World): string[] => [
  task,
  task.replace('mail', 'tick'),
  runId,
  errorId,
  externalId,
  ...['packet', 'eventId', 'deduplicationKey'].map((name) => parameters[name] ?? ''),
];

/** Requests of the caller's own whose body names an object of a world; those that apply to the whole project are marked. */
function namings(own: World): [request: string, body: (named: World) => unknown, ofProject?: boolean][] {
  const { task, parameters, errorId, session } = own;
  return [
    [`POST /api/v1/tasks/${task}/trigger`, (named) => ({ options: { parentRunId: named.runId } })],
    [
      'POST /api/v1/tasks/trigger-many',
      (named) => ({ items: [{ task, options: { parentRunId: named.runId } }] }),
    ],
    ['POST /api/v3/batches', (named) => ({ runCount: 1, parentRunId: named.runId })],
    ['POST /api/v2/tasks/batch', (named) => ({ items: [{ task }], parentRunId: named.runId })],
    [
      `POST /api/v1/tasks/${task}/trigger`,
      (named) => ({
        payload: named.parameters['packet'],
        options: { payloadType: 'application/store' },
      }),
    ],
    ['POST /api/v1/bulk-actions', (named) => ({ action: 'cancel', runIds: [named.runId] })],
    ['POST /api/v1/bulk-actions', (named) => ({ action: 'replay', runIds: [named.runId] })],
    ['POST /api/v1/erasures', (named) => ({ runIds: [named.runId], mode: 'delete' })],
    [`POST /api/v1/errors/${errorId}/merge`, (named) => ({ errors: [named.errorId] })],
    [`POST /api/v1/idempotencyKeys/${parameters['key']}/reset`, (named) => ({ taskIdentifier: named.task })],
    [
      'POST /api/v1/schedules',
      (named) => ({
        task: named.task.replace('mail', 'tick'),
        cron: '0 0 1 1 *',
        deduplicationKey: 'of-another',
      }),
      // A task that any environment of the project has deployed may have schedules (contract 6.1).
      true,
    ],
    [
      'POST /api/v1/schedules',
      (named) => ({
        task: task.replace('mail', 'tick'),
        cron: '0 0 1 1 *',
        deduplicationKey: named.parameters['deduplicationKey'],
      }),
    ],
    [
      `POST /api/v1/sessions/${session}/end-and-continue`,
      (named) => ({ callingRunId: named.runId, reason: 'x' }),
    ],
    [
      'POST /api/v1/sessions',
      (named) => ({
        type: 'chat',
        taskIdentifier: task,
        externalId: named.externalId,
        triggerConfig: { basePayload: {} },
      }),
    ],
    ['POST /api/v1/events', (named) => ({ id: named.parameters['eventId'], event: {} })],
  ];
}

describe('every route for every credential', { timeout: 300_000 }, () => {
  test('rejects the callers that the table rejects, without changes', async () => {
    const { installed, routes, own, foreign } = await stage();
    const callers = [
      ...(await unknown(installed)),
      ...ofOtherEnvironments(installed),
      ...(await known(installed, own, foreign)),
    ];
    const refused = thinned(routes, callers).filter(({ row, caller }) => caller.verdict(row) !== 'may');
    const before = await snapshot(installed.sql);
    const wrong: unknown[] = [];
    await each(refused, async (pair) => {
      const { route, row, caller } = pair;
      const { credential, headers } = caller;
      const sent = await send(installed.server.url, route, own.parameters, own, credential, headers);
      const expected = caller.verdict(row);
      if (sent.status !== expected) wrong.push(mismatch(pair, expected, sent));
    });
    expect(wrong).toEqual([]);
    expect(changed(before, await snapshot(installed.sql))).toEqual([]);
    expect(refused.length).toBeGreaterThan(isLong ? 5_000 : 1_000);
  });

  test('responds for another environment’s objects as for missing ones, and does not change them', async () => {
    const { installed, routes, own, sibling, foreign } = await stage();
    const { sql } = installed;
    const callers = (await known(installed, own, foreign)).filter(({ name }) => !/_/.test(name));
    const part = await partOf(installed, own, foreign);
    const before = await snapshot(sql, part);
    const wrong: unknown[] = [];
    let requests = 0;
    const admitted = pairs(routes, callers).filter(
      // The address of an open route is its credential.
      ({ row, caller }) => row.needs !== 'open' && caller.verdict(row) === 'may',
    );
    await each(admitted, async (pair) => {
      const { route, caller } = pair;
      const ask = (parameters: Parameters) =>
        send(installed.server.url, route, parameters, own, caller.credential, caller.headers);
      // Either the objects are another's, or the project or organization that the path leads through.
      for (const names of [objectsOf(route), placesOf(route)]) {
        if (names.length === 0) continue;
        const put = (of: (name: string) => string): Parameters => ({
          ...own.parameters,
          ...Object.fromEntries(names.map((name) => [name, of(name)])),
        });
        const none = put((name) => nobodys(own.parameters[name] ?? ''));
        const expected = await ask(none);
        for (const world of names === objectsOf(route) ? [sibling, foreign] : [foreign]) {
          const another = put((name) => world.parameters[name] ?? '');
          const sent = await ask(another);
          requests += 1;
          const same =
            sent.status === expected.status &&
            nameless(
              sent.text,
              names.map((name) => another[name] ?? ''),
            ) ===
              nameless(
                expected.text,
                names.map((name) => none[name] ?? ''),
              );
          if (!same) wrong.push(mismatch(pair, expected, sent));
        }
      }
    });
    expect(wrong).toEqual([]);
    expect(changed(before, await snapshot(sql, part))).toEqual([]);
    expect(requests).toBeGreaterThan(500);
  });

  test('uses only objects of its own environment that a body names', async () => {
    const { installed, own, sibling, foreign } = await stage();
    const { sql, ask } = installed;
    const part = await partOf(installed, own, foreign);
    const before = await snapshot(sql, part);
    const wrong: unknown[] = [];
    for (const [request, bodyOf, ofProject] of namings(own)) {
      const sendNaming = (named: World) => ask(request, { key: own.key, body: bodyOf(named) });
      const none = nobodysWorld(own);
      const expected = await sendNaming(none);
      for (const world of ofProject ? [foreign] : [sibling, foreign]) {
        const sent = await sendNaming(world);
        const text = (answer: { body: unknown }, of: World) =>
          nameless(JSON.stringify(answer.body), namesOf(of));
        if (sent.status !== expected.status || text(sent, world) !== text(expected, none))
          wrong.push({ request, expected: [expected.status, expected.body], sent: [sent.status, sent.body] });
      }
    }
    expect(wrong).toEqual([]);
    expect(changed(before, await snapshot(sql, part))).toEqual([]);
  });

  test('accepts the callers that the table accepts', async () => {
    const { installed, routes, own, foreign } = await stage();
    const callers = await known(installed, own, foreign);
    const admitted = thinned(routes, [...callers, ...ofOtherEnvironments(installed)])
      .filter(({ row, caller }) => caller.verdict(row) === 'may')
      .toSorted((a, other) => rankOf(a) - rankOf(other));
    const wrong: unknown[] = [];
    await each(
      admitted,
      async (pair) => {
        const { route, caller } = pair;
        const as = caller.accessToken ?? caller.credential;
        const parameters = await fresh(installed, own, route.name, as);
        const sent = await send(
          installed.server.url,
          route,
          parameters,
          own,
          caller.credential,
          caller.headers,
        );
        if (sent.status >= 300 && sent.status !== otherwise[route.name])
          wrong.push(mismatch(pair, 'in', sent));
      },
      1,
    );
    expect(wrong).toEqual([]);
  });
});
