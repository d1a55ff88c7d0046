/**
 * Connections are terminated before, during and after commits, and the connection that delivers before and after each of its statements.
 * Then each committed row has exactly one run, and no other run exists.
 */
import { Client } from 'pg';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { drainOutbox } from '../../packages/server/src/outbox/drain.ts';
import type { Delivered } from '../../packages/server/src/outbox/deliver.ts';
import { testDatabase } from '../support/database.ts';
import { testServer } from '../support/server.ts';
import { installOutbox, open, piecesOf } from './outbox.ts';
import { numRuns, scale } from '../support/long.ts';

const kills = numRuns(150);

/** Numbers from 0 to 1, the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
const seedOfRun = (): number => fc.readConfigureGlobal()?.seed ?? Math.floor(Math.random() * 2 ** 31);

/** The moment at which the connection of a transaction is terminated. */
const moments = [
  'before the trigger',
  'before the commit',
  'with the commit',
  'after the commit',
  'not',
] as const;

test.each(['the same database', 'another database'])(
  'kills around commits and deliveries: %s',
  async (where) => {
    const seed = seedOfRun();
    const random = numbers(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const server = await testServer();
    const isSame = where === 'the same database';
    const other = isSame ? undefined : await testDatabase();
    const database = other?.connection ?? server.database;
    const sql = open(database, 6);
    const runs = isSame ? sql : open(server.database, 2);
    onTestFinished(async () => {
      await sql.end({ timeout: 1 });
      if (runs !== sql) await runs.end({ timeout: 1 });
      await other?.drop();
    });
    const environment = await installOutbox(server, sql);
    await sql.unsafe('create table app (id text primary key)');
    const pieces = piecesOf(database);
    const end = (pid: number) => sql`select pg_terminate_backend(${pid}::int)`;

    const stop = new AbortController();
    let ended = 0;
    /** Terminates the connection that delivers: of the server or of the drainer, at any of its statements. */
    const endDeliverer = async (): Promise<void> => {
      const found = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and application_name like ${isSame ? 'millrace%' : 'millrace-outbox'}`;
      if (found.length === 0) return;
      ended++;
      await end(pick(found).pid);
    };
    const send = async (items: readonly unknown[]): Promise<readonly Delivered[]> => {
      const chance = random();
      // The process dies before the request, or the reply is lost.
      if (chance < 0.1) throw new Error('ended before the request');
      const { status, body } = await server.ask('/api/v1/outbox', { method: 'POST', body: { items } });
      if (status !== 200) throw new Error(`${status} ${body.error}`);
      if (chance > 0.8) throw new Error('ended after the request');
      return body.results;
    };
    const drainers = isSame
      ? []
      : [1, 2].map(() =>
          drainOutbox({ database, environment, send, signal: stop.signal, onError: () => true }),
        );

    const committed: string[] = [];
    const act = async (): Promise<void> => {
      const client = new Client({ ...pieces, user: pieces.username, application_name: 'app' });
      client.on('error', () => {});
      await client.connect();
      const [{ pid }] = (await client.query('select pg_backend_pid() as pid')).rows as [{ pid: number }];
      const moment = pick(moments);
      try {
        await client.query('begin');
        if (moment === 'before the trigger') await end(pid);
        const { rows } = await client.query(`select millrace.trigger('mail', '{"n":1}') as id`);
        const { id } = rows[0] as { id: string };
        committed.push(id);
        await client.query('insert into app values ($1)', [id]);
        if (moment === 'before the commit') await end(pid);
        await Promise.all([client.query('commit'), moment === 'with the commit' && end(pid)]);
        if (moment === 'after the commit') await end(pid);
      } catch {
        // The application's table shows whether it committed.
      } finally {
        await client.end().catch(() => {});
      }
    };
    for (let done = 0; done < kills; done += 10) {
      await Promise.all([...Array.from({ length: 10 }, act), endDeliverer()]);
    }

    await vi.waitFor(
      async () => {
        const [row] = await sql<{ n: number }[]>`select count(*)::int as n from millrace.outbox`;
        expect(row?.n).toBe(0);
      },
      { timeout: 30_000, interval: 50 },
    );
    stop.abort();
    await Promise.all(drainers);
    const written = await sql<{ id: string }[]>`select id from app order by id collate "C"`;
    const created = await runs<{ id: string }[]>`select id from runs order by id`;
    expect(created, `seed ${seed}`).toEqual(written);
    // The kills had an effect: some transactions did not commit, some did.
    expect(written.length).toBeGreaterThan(0);
    expect(written.length).toBeLessThan(committed.length);
    expect(ended).toBeGreaterThan(0);
  },
  120_000 * Math.max(1, scale),
);
