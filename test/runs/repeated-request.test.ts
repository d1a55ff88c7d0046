import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { installation } from '../access/installation.ts';
import { killableServers } from '../support/server-process/killable.ts';
import type { ServerProcess } from '../support/server-process/start.ts';

const header = 'x-trigger-request-idempotency-key';
const trigger = 'POST /api/v1/tasks/send/trigger';

describe('a repeated request', () => {
  test('returns the run that it created, from any process, and another run for another credential', async () => {
    const { another, ask, keys, keyWith, sql } = await installation();
    const other = await another();
    const headers = { [header]: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        ask(trigger, {
          key: keys.prod,
          body: { payload: 1 },
          headers,
          ...(n % 2 === 1 && { server: other }),
        }),
      ),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id} ${body.isCached}`)).size).toBe(1);
    expect(answers[0]!.headers.get('x-trigger-jwt')).toMatch(/^eyJ/);
    const again = await ask(trigger, { key: keys.prod, body: { payload: 1 }, headers, server: other });
    expect(again.body).toEqual(answers[0]!.body);
    expect(await sql`select from runs`).toHaveLength(1);
    const elsewhere = [
      await ask(trigger, { key: keys.stg, body: {}, headers }),
      await ask(trigger, { key: await keyWith(['trigger:tasks']), body: {}, headers }),
      await ask(`POST /api/v1/runs/${again.body.id}/replay`, { key: keys.prod, headers }),
      await ask(trigger, { key: keys.prod, body: {} }),
    ];
    expect(new Set([again, ...elsewhere].map(({ body }) => body.id)).size).toBe(5);
  });

  test('creates its runs once, in order', async () => {
    const { another, ask, keys, sql } = await installation();
    const other = await another();
    const headers = { [header]: randomUUID() };
    const items = Array.from({ length: 50 }, (_, n) => ({
      task: `task-${n % 3}`,
      payload: n,
      options: { ...(n % 5 === 0 && { tags: ['five'] }), ...(n === 7 && { delay: 'soon' }) },
    }));
    const send = (server = other) =>
      ask('POST /api/v1/tasks/trigger-many', { key: keys.prod, body: { items }, headers, server });
    const [first, second] = await Promise.all([
      send(),
      ask('POST /api/v1/tasks/trigger-many', { key: keys.prod, body: { items }, headers }),
    ]);
    expect(second.body).toEqual(first.body);
    expect((await send()).body).toEqual(first.body);
    expect(first.body.results[7]).toMatchObject({ status: 400 });
    expect(await sql`select from runs`).toHaveLength(49);
  });

  test('is a new request after a day', async () => {
    const { ask, keys, server } = await installation();
    const headers = { [header]: randomUUID() };
    const send = async () => (await ask(trigger, { key: keys.prod, body: {}, headers })).body.id;
    const first = await send();
    server.shiftTime(23 * 3_600_000);
    expect(await send()).toBe(first);
    server.shiftTime(3_601_000);
    const next = await send();
    expect(next).not.toBe(first);
    expect(await send()).toBe(next);
  });

  test('uses its one-time token once', async () => {
    const { ask, keys, sql } = await installation();
    const created = await ask('POST /api/v1/auth/public-tokens', {
      key: keys.prod,
      body: { scopes: ['trigger:tasks:send'], oneTimeUse: true },
    });
    const key = created.body.token;
    const headers = { [header]: randomUUID() };
    const first = await ask(trigger, { key, body: {}, headers });
    expect(await ask(trigger, { key, body: {}, headers })).toMatchObject({ status: 200, body: first.body });
    expect((await ask(trigger, { key, body: {}, headers: { [header]: randomUUID() } })).status).toBe(422);
    expect(await sql`select from runs`).toHaveLength(1);
  });
});

test('does not duplicate or lose triggers or batches when the server is killed during them', async () => {
  const { sql, start } = await killableServers();
  let server: ServerProcess | undefined;
  server = await start();

  /** As a client that never learns the result of a request without a response. */
  const post = async (path: string, body: string, type = 'application/json') => {
    const requestKey = randomUUID();
    for (;;) {
      const { url, secretKey } = server as ServerProcess;
      try {
        const response = await fetch(url + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${secretKey}`, 'content-type': type, [header]: requestKey },
          body,
        });
        if (response.status < 300) return (await response.json()) as { id: string; sealed?: boolean };
        expect([500, 503]).toContain(response.status);
      } catch {
        // No response: retry.
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  let stopped = false;
  let triggers = 0;
  const batches: string[] = [];
  const size = 300;
  const triggering = async () => {
    for (; !stopped; triggers++) await post('/api/v1/tasks/single/trigger', '{}');
  };
  const batching = async () => {
    while (!stopped) {
      const { id } = await post('/api/v3/batches', JSON.stringify({ runCount: size }));
      const lines = Array.from({ length: size }, (_, index) =>
        JSON.stringify({ index, task: 'item', payload: index }),
      );
      let sealed = false;
      while (!sealed) {
        ({ sealed = false } = await post(
          `/api/v3/batches/${id}/items`,
          lines.join('\n'),
          'application/x-ndjson',
        ));
      }
      batches.push(id);
    }
  };
  const working = [triggering(), triggering(), triggering(), batching(), batching()];
  for (let round = 0; round < 5; round++) {
    await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 500));
    const { process: dying } = server;
    dying.kill('SIGKILL');
    await once(dying, 'exit');
    server = await start();
  }
  stopped = true;
  await Promise.all(working);
  const [single] = await sql<
    { count: number }[]
  >`select count(*)::int as count from runs where task = 'single'`;
  expect(single?.count).toBe(triggers);
  expect(batches.length).toBeGreaterThan(0);
  const [items] = await sql<{ count: number }[]>`
    select count(*)::int as count from pending_version where task = 'item'`;
  expect(items?.count).toBe(batches.length * size);
  const rows = await sql<
    { id: string; sealed: boolean }[]
  >`select id, sealed_at is not null as sealed from batches`;
  expect(rows.map((row) => row.id).toSorted()).toEqual(batches.toSorted());
  expect(rows.every((row) => row.sealed)).toBe(true);
}, 120_000);
