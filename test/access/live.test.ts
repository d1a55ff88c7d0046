import { connect as connectHttp2 } from 'node:http2';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { followEvents } from '../sessions/session-server.ts';
import type { RunningServer } from '../../packages/server/src/server.ts';
import { installation, type Installation } from './installation.ts';

/** The promised time, and a margin for a busy machine. */
const withinMs = 2_000;

interface Live {
  readonly what: string;
  /** When it ended, by `performance.now()`. */
  readonly ended: Promise<number>;
}

const now = () => performance.now();
const over = (promise: Promise<unknown>): Promise<number> => promise.then(now, now);

/** All connections that one credential has open on one server. */
async function openAll(
  { ask }: Installation,
  server: RunningServer,
  key: string,
  { run, session, headers = {} }: { run: string; session: string; headers?: Record<string, string> },
): Promise<Live[]> {
  const live: Live[] = [];
  const authorization = { authorization: `Bearer ${key}`, ...headers };
  for (const path of [
    `runs/${run}/events`,
    'runs/events?tags=live',
    `streams/${run}/news`,
    `sessions/${session}/out`,
  ]) {
    const reader = await followEvents(`${server.url}/realtime/v1/${path}`, authorization);
    expect([path, reader.status]).toEqual([path, 200]);
    const drain = async (): Promise<void> => {
      while (await reader.next());
    };
    live.push({ what: path, ended: over(drain()) });
  }
  const shape = `GET /realtime/v1/runs/${run}`;
  const first = await ask(`${shape}?offset=-1`, { key, headers, server });
  const place = `offset=${first.headers.get('electric-offset')}&handle=${first.headers.get('electric-handle')}`;
  live.push({ what: 'shape', ended: over(ask(`${shape}?live=true&${place}`, { key, headers, server })) });
  return live;
}

/** An append session over HTTP/2; undefined for a credential that gets no token for one. */
async function openAppendSession(
  { ask }: Installation,
  server: RunningServer,
  key: string,
  session: string,
): Promise<Live> {
  const { headers } = await ask(`PUT /realtime/v1/sessions/${session}/in`, { key, server });
  const http2 = connectHttp2(server.url);
  onTestFinished(() => http2.destroy());
  const stream = http2.request({
    ':method': 'POST',
    ':path': `/s2/v1/streams/${headers.get('x-s2-stream-name')}/records`,
    authorization: `Bearer ${headers.get('x-s2-access-token')}`,
  });
  const status = await new Promise((resolve) => stream.once('response', (got) => resolve(got[':status'])));
  expect(status).toBe(200);
  stream.on('error', () => {});
  stream.resume();
  return {
    what: 'append session',
    ended: new Promise((resolve) => stream.once('close', () => resolve(now()))),
  };
}

async function openRunner(server: RunningServer, key: string): Promise<Live> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/runner/v1/connect`, {
    headers: { authorization: `Bearer ${key}` },
  });
  onTestFinished(() => socket.terminate());
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return { what: 'runner', ended: new Promise((resolve) => socket.once('close', () => resolve(now()))) };
}

/** A batch upload that stays open and sends line by line. */
async function openUpload({ ask }: Installation, server: RunningServer, key: string): Promise<Live> {
  const { body } = await ask('POST /api/v3/batches', { key, server, body: { runCount: 900 } });
  let index = 0;
  const lines = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const line = { index, task: 'work', payload: index++ };
      if (index > 800) return controller.close();
      controller.enqueue(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
    },
  });
  const sent = fetch(`${server.url}/api/v3/batches/${body.id}/items`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
    body: lines,
    duplex: 'half',
  }).then(async (answer) => {
    expect(answer.status).toBe(401);
    await answer.text();
  });
  return { what: 'upload', ended: over(sent) };
}

/** Connections that were still open too long after the act. */
async function late(live: readonly Live[], act: () => Promise<unknown>): Promise<string[]> {
  // The messages of the beginning have arrived.
  await new Promise((resolve) => setTimeout(resolve, 300));
  let ended = 0;
  for (const connection of live) void connection.ended.then(() => ended++);
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended, 'connections that ended before the act').toBe(0);
  await act();
  const at = now();
  const times = await Promise.all(
    live.map(({ what, ended: end }) =>
      Promise.race([
        end.then((time) => [what, time - at] as const),
        new Promise<readonly [string, number]>((resolve) =>
          setTimeout(() => resolve([what, Infinity] as const), withinMs + 500),
        ),
      ]),
    ),
  );
  return times.filter(([, ms]) => ms > withinMs).map(([what, ms]) => `${what}: ${ms} ms`);
}

async function set() {
  const installed = await installation();
  const other = await installed.another();
  const { ask, keys } = installed;
  const make = async (key: string, headers: Record<string, string> = {}) => {
    const { body: run } = await ask('POST /api/v1/tasks/work/trigger', {
      key,
      headers,
      body: { payload: 1, options: { tags: ['live'] } },
    });
    const { body: session } = await ask('POST /api/v1/sessions', {
      key,
      headers,
      body: { type: 'chat', taskIdentifier: 'chat', externalId: 'talk', triggerConfig: { basePayload: {} } },
    });
    return { run: run.id as string, session: session.id as string, headers };
  };
  const places = await make(keys.prod);
  const named = async (name: string) =>
    (await ask(`POST /api/v1/projects/${installed.projectRef}/prod/keys`, { body: { name } })).body as {
      id: string;
      key: string;
    };
  const scopes = ['read:runs', 'read:tags', 'read:tasks', 'read:sessions', 'write:sessions'];
  const publicToken = async (key: string, more: object = {}) =>
    (await ask('POST /api/v1/auth/public-tokens', { key, body: { scopes, ...more } })).body.token as string;
  /** Created by a user, in their name. */
  const delegated = async (token: string) =>
    (
      await ask(`POST /api/v1/projects/${installed.projectRef}/prod/jwt`, {
        key: token,
        body: { claims: { scopes } },
      })
    ).body.token as string;
  const everything = async (key: string, { runner = false, upload = false } = {}): Promise<Live[]> => {
    const live: Live[] = [];
    for (const server of [installed.server, other]) {
      live.push(...(await openAll(installed, server, key, places)));
      live.push(await openAppendSession(installed, server, key, places.session));
      if (runner) live.push(await openRunner(server, key));
      if (upload) live.push(await openUpload(installed, server, key));
    }
    return live;
  };
  return { ...installed, other, make, named, publicToken, delegated, everything };
}

describe('within a second, on every server process, all open connections end', { timeout: 60_000 }, () => {
  test('when a key is revoked, with everything created through it', async () => {
    const { ask, projectRef, named, publicToken, everything } = await set();
    const { id, key } = await named('a');
    const live = [
      ...(await everything(key, { runner: true, upload: true })),
      ...(await everything(await publicToken(key))),
    ];
    expect(await late(live, () => ask(`POST /api/v1/projects/${projectRef}/prod/keys/${id}/revoke`))).toEqual(
      [],
    );
  });

  test('when a key is ended in the database, without a notification', async () => {
    const { sql, named, publicToken, everything } = await set();
    const { id, key } = await named('a');
    const live = [
      ...(await everything(key, { runner: true })),
      ...(await everything(await publicToken(key))),
    ];
    const end = async () => void (await sql`update secret_keys set expires_at = now() where id = ${id}`);
    expect(await late(live, end)).toEqual([]);
  });

  test('when a personal access token is revoked, or its user becomes a viewer, or is removed', async () => {
    const { ask, sql, organization, userWith, delegated, everything } = await set();
    const user = await userWith('member');
    const token = await delegated(user.token);
    const revoke = async () =>
      void (await sql`update personal_access_tokens set revoked_at = now() where user_id = ${user.id}`);
    expect(await late(await everything(token), revoke)).toEqual([]);
    const two = await userWith('admin');
    const role = () =>
      ask(`PATCH /api/v1/orgs/${organization}/members/${two.id}`, { body: { role: 'viewer' } });
    expect(await late(await everything(await delegated(two.token)), role)).toEqual([]);
    const three = await userWith('owner');
    const remove = () => ask(`DELETE /api/v1/orgs/${organization}/members/${three.id}`);
    expect(await late(await everything(await delegated(three.token)), remove)).toEqual([]);
  });

  test('when the signing key is replaced', async () => {
    const { ask, projectRef, named, publicToken, everything } = await set();
    const token = await publicToken((await named('a')).key);
    const path = `POST /api/v1/projects/${projectRef}/prod/signing-key/rotate`;
    const live = await everything(token);
    const act = async () => expect((await ask(path, { body: { overlap: '0s' } })).status).toBe(200);
    expect(await late(live, act)).toEqual([]);
  });

  test('when the environment is deleted, or the branch archived', async () => {
    const installed = await set();
    const { ask, projectRef, keys, make, other, server } = installed;
    const stg = await make(keys.stg);
    const live: Live[] = [];
    for (const each of [server, other]) live.push(...(await openAll(installed, each, keys.stg, stg)));
    expect(await late(live, () => ask(`DELETE /api/v1/projects/${projectRef}/stg?confirm=stg`))).toEqual([]);

    const branches = `POST /api/v1/projects/${projectRef}/branches`;
    await ask(branches, { body: { branch: 'b', env: 'preview' } });
    const branch = await make(keys.preview, { 'x-service-branch': 'b' });
    const inBranch: Live[] = [];
    for (const each of [server, other])
      inBranch.push(...(await openAll(installed, each, keys.preview, branch)));
    const archive = () => ask(`${branches}/archive`, { body: { branch: 'b', env: 'preview' } });
    expect(await late(inBranch, archive)).toEqual([]);
  });

  test('when a token expires', async () => {
    const { named, publicToken, everything } = await set();
    const { key } = await named('a');
    const soon = Math.floor(Date.now() / 1_000) + 6;
    const live = await everything(await publicToken(key, { expirationTime: soon }));
    const pass = () => new Promise((resolve) => setTimeout(resolve, soon * 1_000 - Date.now()));
    expect(await late(live, pass)).toEqual([]);
  });
});
