/** Triggers in transactions of the caller: through SQL, and through the SDK in transactions of common libraries. */
import { sql as drizzleSql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOfPostgres } from 'drizzle-orm/postgres-js';
import knex from 'knex';
import { Kysely, PostgresDialect, sql as kyselySql } from 'kysely';
import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import type { Sql } from '../../packages/server/src/db/connect.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { startServer } from '../../packages/server/src/server.ts';
import { task } from '../../packages/sdk/src/index.ts';
import { trigger, type Transaction } from '../../packages/sdk/src/transactions/index.ts';
import { promote } from '../support/promote.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { testDatabase } from '../support/database.ts';
import { installOutbox, open, piecesOf, type Pieces } from './outbox.ts';
import { prismaClient } from './prisma.ts';

const mail = task({ id: 'mail', run: async (payload: { to: string }) => payload });

const ends: (() => unknown)[] = [];
let server: TestServer;
let sql: Sql;
let pieces: Pieces;

beforeAll(async () => {
  server = await startTestServer((end) => ends.push(end));
  sql = open(server.database);
  ends.push(() => sql.end({ timeout: 1 }));
  pieces = piecesOf(server.database);
  await installOutbox(server, sql);
  await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: {
      contentHash: 'content-1',
      tasks: [{ id: 'mail', filePath: 'a.ts', ttl: 3_600, queue: { name: 'post' } }],
    },
  });
  await promote(server.url, server.keys.prod);
  await sql.unsafe('create table users (id int primary key, email text not null)');
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

/** Waits until the server has delivered. */
const eventually = <T>(read: () => Promise<T>): Promise<T> =>
  vi.waitFor(read, { timeout: 20_000, interval: 20 });
const retrieve = (id: string) => server.ask(`/api/v3/runs/${id}`);
const created = (id: string) =>
  eventually(async () => {
    const { status, body } = await retrieve(id);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  });
const waiting = async (): Promise<number> => {
  const [row] = await sql<
    { n: number }[]
  >`select count(*)::int as n from millrace.outbox where failed_at is null`;
  return row?.n ?? -1;
};
const drained = () => eventually(async () => expect(await waiting()).toBe(0));

const call = async (on: Pick<Sql, 'unsafe'>, text: string): Promise<string> => {
  const [row] = await on.unsafe<{ id: string }[]>(`select millrace.trigger(${text}) as id`);
  return row?.id ?? '';
};

describe('millrace.trigger', () => {
  test('creates the run that the API would create, at the commit and not before', async () => {
    const options = {
      tags: ['a', 'b'],
      metadata: { step: 1 },
      delay: '2h',
      concurrencyKey: 'c1',
      maxAttempts: 4,
      priority: 3,
      idempotencyKey: 'once',
      description: 'by SQL',
    };
    const id = await sql.begin(async (tx) => {
      const triggered = await call(tx, `'mail', '{"to":"ada"}', '${JSON.stringify(options)}'`);
      expect(triggered).toMatch(/^run_[0-9a-z]{24}$/);
      expect((await retrieve(triggered)).status).toBe(404);
      return triggered;
    });
    const run = await created(id);
    const { body } = await server.ask('/api/v1/tasks/mail/trigger', {
      method: 'POST',
      body: { payload: { to: 'ada' }, options: { ...options, idempotencyKey: 'other' } },
    });
    const { body: byApi } = await retrieve(body.id);
    const own = new Set(['id', 'createdAt', 'updatedAt', 'delayedUntil', 'idempotencyKey']);
    const shared = (row: object) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !own.has(name)));
    expect(shared(run)).toEqual(shared(byApi));
    expect(run).toMatchObject({ status: 'DELAYED', payload: { to: 'ada' }, queue: 'post', ttl: '1h' });
    expect(Math.abs(Date.parse(run.delayedUntil) - Date.parse(byApi.delayedUntil))).toBeLessThan(60_000);

    // A second row with the same key resolves to the same run, even under its own id.
    const second = await call(sql, `'mail', null, '{"idempotencyKey":"once"}'`);
    expect((await created(second)).id).toBe(id);
  });

  test('creates no run when the transaction rolls back', async () => {
    let id = '';
    await expect(
      sql.begin(async (tx) => {
        id = await call(tx, `'mail', '{}'`);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    const later = await call(sql, `'mail', '{}'`);
    await created(later);
    expect((await retrieve(id)).status).toBe(404);
  });

  test('is the only permission that a role needs, and is independent of its search path', async () => {
    await sql.unsafe(`
      create role millrace_test_app login; grant usage on schema millrace to millrace_test_app;
      create schema evil; create function evil.pg_notify(text, text) returns void language sql as 'select 1/0';
      grant usage on schema evil to millrace_test_app`);
    try {
      await expect(
        sql.begin(async (tx) => {
          await tx.unsafe('set local role millrace_test_app');
          await call(tx, `'mail', '{}'`);
        }),
      ).rejects.toThrow(/permission denied for function/);
      await sql.unsafe('grant execute on function millrace.trigger(text, jsonb, jsonb) to millrace_test_app');
      const id = await sql.begin(async (tx) => {
        await tx.unsafe('set local role millrace_test_app; set local search_path = evil, pg_catalog');
        return call(tx, `'mail', '{}'`);
      });
      await created(id);
      await expect(
        sql.begin(async (tx) => {
          await tx.unsafe('set local role millrace_test_app');
          await tx.unsafe('select * from millrace.outbox');
        }),
      ).rejects.toThrow(/permission denied for table/);
    } finally {
      await sql.unsafe(
        'drop owned by millrace_test_app; drop role millrace_test_app; drop schema evil cascade',
      );
    }
  });

  test.each([
    [`'', '{}'`, /first argument must be a task id/],
    [`repeat('x', 129), '{}'`, /first argument must be a task id/],
    [`'mail', '{}', '[1]'`, /options must be a JSON object/],
    [`'mail', to_jsonb(repeat('x', 3000001))`, /have 3000\d+ bytes; at most 3,000,000 are allowed/],
  ])('refuses %s', async (text, sentence) => {
    await expect(call(sql, text)).rejects.toThrow(sentence);
  });

  test('keeps undeliverable rows with their error, and delivers later rows', async () => {
    const bad = await call(sql, `'mail', '{}', '{"delay":"soon"}'`);
    const worse = await call(sql, `'mail', '{}', '{"tags":7}'`);
    const good = await call(sql, `'mail', '{}'`);
    await created(good);
    const rows = await sql<{ id: string; error: string }[]>`
      select id, error from millrace.outbox where failed_at is not null order by seq`;
    expect(rows).toEqual([
      { id: bad, error: expect.stringMatching(/^options\.delay: /) },
      { id: worse, error: expect.stringMatching(/^options\.tags: /) },
    ]);
    const { status, body, headers } = await retrieve(bad);
    expect([status, headers.get('x-should-retry')]).toEqual([404, 'false']);
    expect(body.error).toMatch(/cannot be created: options\.delay: /);
    await sql`update millrace.outbox set failed_at = null, error = null, options = '{}' where id = ${bad}`;
    await created(bad);
    await sql`delete from millrace.outbox where id = ${worse}`;
  });

  test('delivers in the order of the triggers', async () => {
    const ids = await sql.begin(async (tx) => {
      const createdIds: string[] = [];
      for (let n = 0; n < 50; n++)
        createdIds.push(await call(tx, `'mail', '${n}', '{"concurrencyKey":"ordered"}'`));
      return createdIds;
    });
    await created(ids.at(-1) ?? '');
    const rows = await sql<{ run_id: string }[]>`
      select q.run_id from queued q join lanes l on l.id = q.lane_id where l.key = 'ordered' order by q.sort_key, q.run_id`;
    expect(rows.map((row) => row.run_id)).toEqual(ids);
  });
});

test('a restarted server uses its own tables, even if its role has the name of the outbox schema', async () => {
  const again = await startServer({
    database: server.database,
    port: 0,
    masterKey: masterKeyOf(Buffer.alloc(32, 1)),
    log: createLog({ write() {} }),
  });
  try {
    const response = await fetch(`${again.url}/api/v1/whoami`, {
      headers: { authorization: `Bearer ${server.keys.prod}` },
    });
    expect(response.status).toBe(200);
    expect(await sql`select to_regclass('millrace.migrations') as found`).toEqual([{ found: null }]);
  } finally {
    await again.close();
  }
});

describe('the SDK', () => {
  interface Library {
    /** Runs `act` in a transaction that also inserts a user. */
    transact(act: (tx: Transaction) => Promise<void>, user: number): Promise<unknown>;
    /** A connection without a transaction. */
    readonly outside: unknown;
  }
  const insert = (user: number): string => `insert into users values (${user}, 'a@b.test')`;

  const libraries: Readonly<Record<string, () => Promise<Library>>> = {
    async pg() {
      const pool = new Pool({ ...pieces, user: pieces.username, max: 2 });
      ends.push(() => pool.end());
      return {
        outside: pool,
        async transact(act, user) {
          const client = await pool.connect();
          try {
            await client.query('begin');
            await client.query(insert(user));
            await act(client);
            await client.query('commit');
          } catch (error) {
            await client.query('rollback');
            throw error;
          } finally {
            client.release();
          }
        },
      };
    },
    async postgres() {
      const db = postgres({ ...pieces, max: 2 });
      ends.push(() => db.end());
      return {
        outside: db,
        transact: (act, user) =>
          db.begin(async (tx) => {
            await tx.unsafe(insert(user));
            await act(tx);
          }),
      };
    },
    async 'drizzle on pg'() {
      const pool = new Pool({ ...pieces, user: pieces.username, max: 2 });
      ends.push(() => pool.end());
      const db = drizzle(pool);
      return {
        outside: db,
        transact: (act, user) =>
          db.transaction(async (tx) => {
            await tx.execute(drizzleSql.raw(insert(user)));
            await act(tx);
          }),
      };
    },
    async 'drizzle on postgres'() {
      const client = postgres({ ...pieces, max: 2 });
      ends.push(() => client.end());
      const db = drizzleOfPostgres(client);
      return {
        outside: db,
        transact: (act, user) =>
          db.transaction(async (tx) => {
            await tx.execute(drizzleSql.raw(insert(user)));
            await act(tx);
          }),
      };
    },
    async prisma() {
      const { host, port, username, password, database } = pieces;
      const client = prismaClient({ host, port, user: username, password, database });
      ends.push(() => client.$disconnect());
      return {
        outside: client,
        transact: (act, user) =>
          client.$transaction(async (tx) => {
            await tx.$executeRawUnsafe(insert(user));
            await act(tx);
          }),
      };
    },
    async kysely() {
      const pool = new Pool({ ...pieces, user: pieces.username, max: 2 });
      const db = new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
      ends.push(() => db.destroy());
      return {
        outside: db,
        transact: (act, user) =>
          db.transaction().execute(async (tx) => {
            await kyselySql.raw(insert(user)).execute(tx);
            await act(tx);
          }),
      };
    },
    async knex() {
      const db = knex({ client: 'pg', connection: { ...pieces, user: pieces.username }, pool: { max: 2 } });
      ends.push(() => db.destroy());
      return {
        outside: db,
        transact: (act, user) =>
          db.transaction(async (tx) => {
            await tx.raw(insert(user));
            await act(tx);
          }),
      };
    },
    async typeorm() {
      const source = await new DataSource({ type: 'postgres', ...pieces }).initialize();
      ends.push(() => source.destroy());
      return {
        outside: source.manager,
        transact: (act, user) =>
          source.transaction(async (manager) => {
            await manager.query(insert(user));
            await act(manager);
          }),
      };
    },
  };

  const odd = 'it\'s $1 ? "\u0000" :x';
  let user = 0;
  test.each(Object.keys(libraries))('triggers in a transaction of %s', async (name) => {
    const { transact, outside } = await libraries[name]!();
    const first = ++user;
    const ids: string[] = [];
    let after: Transaction | undefined;
    await transact(async (tx) => {
      after = tx;
      const { id, taskIdentifier } = await trigger(
        tx,
        mail,
        { to: 'ada' },
        { tags: 'sdk', metadata: { name } },
      );
      expect(taskIdentifier).toBe('mail');
      ids.push(
        id,
        (await trigger(tx, 'mail', new Map([['when', new Date(0)]]))).id,
        (await trigger(tx, 'mail', 'a\u0000b')).id,
      );
      ids.push((await trigger(tx, 'mail', { text: odd })).id, (await trigger(tx, 'mail', 'plain')).id);
    }, first);
    expect(await created(ids[0]!)).toMatchObject({
      payload: { to: 'ada' },
      tags: ['sdk'],
      metadata: { name },
    });
    expect((await created(ids[1]!)).payload).toEqual([['when', '1970-01-01T00:00:00.000Z']]);
    expect((await created(ids[2]!)).payload).toBe('a\u0000b');
    expect((await created(ids[3]!)).payload).toEqual({ text: odd });
    expect((await created(ids[4]!)).payload).toBe('plain');

    let lost = '';
    const failing = transact(async (tx) => {
      lost = (await trigger(tx, mail, { to: 'nobody' })).id;
      throw new Error('changed my mind');
    }, ++user);
    await expect(failing).rejects.toThrow('changed my mind');
    await drained();
    expect((await retrieve(lost)).status).toBe(404);
    expect(await sql`select id from users where id in (${first}, ${user})`).toHaveLength(1);

    await expect(trigger(outside as Transaction, mail, { to: 'x' })).rejects.toMatchObject({
      name: 'TransactionError',
      code: 'not_a_transaction',
    });
    // The transaction has ended: its connection must not trigger anything.
    const before = await sql`select from runs`;
    await expect(trigger(after as Transaction, mail, { to: 'late' })).rejects.toThrow(
      /No transaction is open|already committed|already closed/,
    );
    await drained();
    expect(await sql`select from runs`).toHaveLength(before.length);
  });

  test('reports the problem with a transaction', async () => {
    const client = new Client({ ...pieces, user: pieces.username });
    await client.connect();
    ends.push(() => client.end());
    const attempt = (payload = 'x') => trigger(client, 'mail', payload);
    await expect(attempt()).rejects.toMatchObject({
      code: 'no_transaction',
      message: expect.stringMatching(/`begin` was not called/),
    });
    await client.query('begin read only');
    await expect(attempt()).rejects.toMatchObject({ code: 'read_only' });
    await expect(attempt()).rejects.toMatchObject({ code: 'failed_transaction' });
    await client.query('rollback');
    await client.query('begin');
    await expect(attempt('x'.repeat(3_000_001))).rejects.toMatchObject({ code: 'too_large' });
    // Nothing was sent: the transaction continues.
    expect((await attempt()).id).toMatch(/^run_/);
    await client.query('rollback');
    for (const wrong of [undefined, {}, 7, 'tx'])
      await expect(trigger(wrong as never, 'mail')).rejects.toMatchObject({ code: 'not_a_transaction' });

    const other = await testDatabase();
    ends.push(other.drop);
    const elsewhere = postgres({ ...piecesOf(other.connection), max: 1 });
    ends.push(() => elsewhere.end());
    await expect(elsewhere.begin((tx) => trigger(tx, 'mail', 'x'))).rejects.toMatchObject({
      code: 'not_installed',
      message: expect.stringMatching(/millrace outbox install/),
    });
  });

  test('triggers once when a serializable transaction is retried', async () => {
    await sql`insert into users values (1000, 'a'), (1001, 'b')`;
    const db = postgres({ ...pieces, max: 4 });
    ends.push(() => db.end());
    const ids: string[] = [];
    let failures = 0;
    /** Both read both rows and write one of them: one of two concurrent ones fails. */
    const act = async (id: number): Promise<void> => {
      for (;;) {
        try {
          await db.begin('isolation level serializable', async (tx) => {
            await tx`select count(*) from users where email = 'a' and id >= 1000`;
            const run = await trigger(tx, 'mail', { serial: id });
            await tx`update users set email = 'a' where id = ${id}`;
            ids.push(run.id);
          });
          return;
        } catch (error) {
          if ((error as { code?: string }).code !== '40001') throw error;
          failures++;
        }
      }
    };
    for (let round = 0; round < 5; round++) {
      await sql`update users set email = 'b' where id >= 1000`;
      await Promise.all([act(1000), act(1001)]);
    }
    await drained();
    expect(failures).toBeGreaterThan(0);
    const rows = await sql`select id from runs where payload like '%serial%'`;
    expect(rows).toHaveLength(10);
  });
});
