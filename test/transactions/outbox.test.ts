/** Delivery of rows from an outbox in another database: the API operation and the commands. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Database, Sql } from '../../packages/server/src/db/connect.ts';
import { main } from '../../packages/millrace/src/cli/main.ts';
import { promote } from '../support/promote.ts';
import { testDatabase } from '../support/database.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { open, piecesOf } from './outbox.ts';

const ends: (() => unknown)[] = [];
let server: TestServer;
let runs: Sql;

beforeAll(async () => {
  server = await startTestServer((end) => ends.push(end));
  runs = open(server.database);
  ends.push(() => runs.end({ timeout: 1 }));
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

const idOf = (n: number): string => `run_${String(n).padStart(24, '0')}`;
const send = (items: readonly object[], key?: string) =>
  server.ask('/api/v1/outbox', { method: 'POST', body: { items }, ...(key !== undefined && { key }) });

describe('a delivery', () => {
  test('creates each run once, for any number of repetitions and rows per request', async () => {
    const items = Array.from({ length: 20 }, (_, n) => ({ id: idOf(n), task: 'mail', payload: n }));
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(items)));
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body.results).toEqual(items.map(({ id }) => ({ id, run: id })));
    }
    expect(await runs`select from runs`).toHaveLength(20);
    // Even if the run has been deleted.
    await runs`delete from pending_version`;
    await runs`delete from runs where id = ${idOf(3)}`;
    expect((await send([items[3]!])).body.results).toEqual([{ id: idOf(3), run: idOf(3) }]);
    expect(await runs`select from runs where id = ${idOf(3)}`).toHaveLength(0);
  });

  test('resolves to the run of an idempotency key, and to the same run after the key has expired', async () => {
    const options = { idempotencyKey: 'k' };
    const items = [100, 101].map((n) => ({ id: idOf(n), task: 'mail', options }));
    const first = [
      { id: idOf(100), run: idOf(100) },
      { id: idOf(101), run: idOf(100) },
    ];
    expect((await send(items)).body.results).toEqual(first);
    await runs`delete from idempotency_keys`;
    expect((await send(items)).body.results).toEqual(first);
    expect((await server.ask(`/api/v3/runs/${idOf(101)}`)).body.id).toBe(idOf(100));
  });

  test('adds each row once to the collecting run, for any number of repetitions', async () => {
    const tasks = [{ id: 'index', filePath: 'index.ts', batch: { maxSize: 100, maxWaitMs: 3_600_000 } }];
    await server.ask('/runner/v1/versions', {
      method: 'POST',
      body: { contentHash: 'c'.repeat(64), tasks },
    });
    await promote(server.url, server.keys.prod);
    const items = Array.from({ length: 20 }, (_, n) => ({ id: idOf(150 + n), task: 'index', payload: n }));
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => send(items)));
    const run = first!.body.results[0]!.run;
    expect(first!.body.results).toEqual(items.map(({ id }) => ({ id, run })));
    for (const { body } of others) expect(body.results).toEqual(first!.body.results);
    const { payload } = (await server.ask(`/api/v3/runs/${run}`)).body as unknown as { payload: number[] };
    expect(payload).toEqual(items.map((item) => item.payload));
  });

  test('rejects invalid rows individually, and delivers the others', async () => {
    const { status, body } = await send([
      { id: idOf(200), task: '' },
      { id: idOf(201), task: 'mail', options: { ttl: 'soon' } },
      { id: idOf(202), task: 'mail', payload: 'name', options: { payloadType: 'application/store' } },
      { id: idOf(203), task: 'mail', options: { parentRunId: 'run_of_somebody' } },
      { id: idOf(204), task: 'mail', payload: 7, options: { payloadType: 'text/plain' } },
    ]);
    expect(status).toBe(200);
    expect(body.results).toEqual([
      { id: idOf(200), status: 400, error: expect.stringMatching(/^task: /) },
      { id: idOf(201), status: 400, error: expect.stringMatching(/^options\.ttl: /) },
      {
        id: idOf(202),
        status: 400,
        error: expect.stringMatching(/^options\.payloadType: .*not supported in transactions/),
      },
      { id: idOf(203), run: idOf(203) },
      { id: idOf(204), status: 400, error: expect.stringMatching(/^payload: /) },
    ]);
    expect(await runs`select from runs where id > ${idOf(199)} and id < ${idOf(300)}`).toHaveLength(1);
  });

  test.each([
    [[], /items/],
    [[{ task: 'mail' }], /items\.0\.id/],
    [[{ id: 'run_short', task: 'mail' }], /must be the id that millrace\.trigger returned/],
    [Array.from({ length: 501 }, (_, n) => ({ id: idOf(1_000 + n), task: 'mail' })), /items/],
  ])('rejects items that are not rows', async (items, sentence) => {
    const { status, body } = await send(items);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(sentence)]);
  });
});

describe('the commands', () => {
  let database: Database;
  let url: string;
  let app: Sql;

  beforeAll(async () => {
    const other = await testDatabase();
    database = other.connection;
    const { host, port = 5_432, database: name, username, password = '' } = piecesOf(database);
    url = `postgres://${username}:${password}@${encodeURIComponent(host)}:${port}/${name}`;
    app = open(database);
    ends.push(other.drop, () => app.end({ timeout: 1 }));
  });

  const outbox = async (args: readonly string[], key = server.keys.prod) => {
    let output = '';
    const streams = (['stdout', 'stderr'] as const).map((stream) =>
      vi.spyOn(process[stream], 'write').mockImplementation((text) => {
        output += String(text);
        return true;
      }),
    );
    try {
      return { code: await main(['outbox', ...args, '--url', server.url, '--key', key]), output: output };
    } finally {
      for (const stream of streams) stream.mockRestore();
      process.exitCode = 0;
    }
  };

  test('install an outbox, print its SQL, and deliver from it', async () => {
    const from = ['--database-url', url];
    expect(await outbox(['drain', '--once', ...from])).toEqual({
      code: 1,
      output: expect.stringMatching(/The database has no outbox: run `millrace outbox install`/),
    });
    expect(await outbox(['install', ...from])).toEqual({
      code: 0,
      output: 'The outbox is installed. Its runs belong to prod.\n',
    });
    // Again: nothing changes.
    expect((await outbox(['install', ...from])).code).toBe(0);
    expect((await outbox(['sql'])).output).toContain(
      'create or replace function millrace.trigger(task text, payload jsonb,',
    );
    expect(await outbox(['install', ...from], server.keys.stg)).toEqual({
      code: 1,
      output: expect.stringMatching(/belongs to another environment, /),
    });
    expect(await outbox(['drain', '--once', ...from], server.keys.stg)).toEqual({
      code: 1,
      output: expect.stringMatching(
        /belongs to the environment .* Use a key of the environment of the outbox/,
      ),
    });

    const [row] = await app<{ ids: string[] }[]>`
      select array_agg(millrace.trigger('mail', to_jsonb(n)) order by n) as ids from generate_series(1, 1200) as n`;
    const [bad] = await app<
      { id: string }[]
    >`select millrace.trigger('mail', null, '{"delay":"soon"}') as id`;
    expect(await outbox(['drain', '--once', '--json', ...from])).toEqual({
      code: 1,
      output: expect.stringMatching(
        new RegExp(`"id":"${bad?.id}","status":400.*\\n.*"delivered":1200,"failed":1`),
      ),
    });
    const created = await runs<
      { id: string }[]
    >`select id from runs where id = any(${row?.ids ?? []}::text[])`;
    expect(created).toHaveLength(1_200);
    expect(await app`select error from millrace.outbox`).toEqual([
      { error: expect.stringMatching(/^options\.delay/) },
    ]);
    // No row is left to deliver.
    expect(await outbox(['drain', '--once', ...from])).toEqual({ code: 0, output: 'Delivered 0.\n' });
  });

  test('of the documentation work verbatim', async () => {
    const page = await readFile(new URL('../../docs/transactions.md', import.meta.url), 'utf8');
    const commands = [...page.matchAll(/^npx millrace outbox (.*) --database-url "\$DATABASE_URL"$/gm)].map(
      ([, words = '']) => words,
    );
    expect(commands).toEqual(['install', 'drain']);
    const [, statements = ''] = /```sql\n(begin;[\s\S]*?commit;)\n```/.exec(page) ?? [];
    expect((await outbox(['install', '--database-url', url])).code).toBe(0);
    await app.unsafe('create table orders (id int primary key, total int)');
    await app.unsafe(statements);
    expect(await outbox(['drain', '--once', '--database-url', url])).toEqual({
      code: 0,
      output: 'Delivered 1.\n',
    });
    const created = await runs<{ payload: string }[]>`select payload from runs where task = 'confirm'`;
    expect(created.map(({ payload }) => JSON.parse(payload) as unknown)).toEqual([{ order: 7 }]);
  });
});
