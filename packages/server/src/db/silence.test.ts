import { describe, expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { startSilentProxy } from '../../../../test/support/silent-proxy.ts';
import { hasOpenssl, tcpPostgres } from '../../../../test/support/tcp-postgres.ts';
import { targetOf, through } from '../../../../test/support/through-proxy.ts';
import { connect, type ConnectOptions } from './connect.ts';
import { DedicatedConnection } from './dedicated.ts';
import { defaultLimits } from '../operations/doctor/limits.ts';
import { connectionsSilent } from '../operations/doctor/process/connections-silent.ts';
import { DatabaseLost } from './errors.ts';
import { silentConnections } from './watch.ts';

/** A database whose host can fall silent, and the same one at another address. */
async function silenceable() {
  const { connection, drop } = await testDatabase();
  const proxy = await startSilentProxy(targetOf(connection));
  const ends: (() => Promise<unknown>)[] = [];
  onTestFinished(async () => {
    for (const end of ends) await end();
    await proxy.close();
    await drop();
  });
  const database = through(connection, proxy.port);
  const pool = (options: Partial<ConnectOptions> = {}) => {
    const sql = connect(database, { name: 'test', max: 2, ...options });
    ends.push(() => sql.end({ timeout: 0.1 }));
    return sql;
  };
  return { database, proxy, lead: () => proxy.lead(targetOf(connection)), pool, ends };
}

const error = (reason: unknown): unknown => reason;
const sinceNow = () => {
  const start = performance.now();
  return () => performance.now() - start;
};

describe('a host that stops responding', () => {
  test('is detected by the heartbeat, and later statements use new connections', async () => {
    const { database, lead, pool, proxy, ends } = await silenceable();
    const listening = pool({ kind: 'pulse' });
    const { unlisten } = await listening.listen('news', () => {});
    ends.unshift(unlisten);
    const busy = pool();
    const idle = pool();
    const dedicated = new DedicatedConnection(database, { name: 'test' }, { first: 'select 1' });
    ends.push(() => dedicated.end({ timeout: 0.1 }));
    await Promise.all([busy`select`, idle`select`, dedicated.send('first', [])]);

    proxy.fallSilent();
    const took = sinceNow();
    const pending = await Promise.all([
      busy`select`.catch(error),
      busy.begin((tx) => tx`select`).catch(error),
      dedicated.send('first', []).catch(error),
    ]);
    expect(pending.map((reason) => (reason as Error).constructor)).toEqual(Array(3).fill(DatabaseLost));
    expect(took()).toBeLessThan(8_000);

    lead();
    // The idle connection was destroyed as well, so its next user does not wait for the silent host.
    expect(await idle`select 1 as n`).toEqual([{ n: 1 }]);
    await expect.poll(() => busy`select 1 as n`.catch(error), { timeout: 10_000 }).toEqual([{ n: 1 }]);
    await expect.poll(() => dedicated.send('first', []).catch(error), { timeout: 10_000 }).toEqual([['1']]);
  }, 40_000);

  test('loses its listener, which listens again once the address resolves to another host', async () => {
    const { lead, pool, proxy, ends } = await silenceable();
    const sql = pool();
    const news: string[] = [];
    const listening = await sql.listen('news', (text) => news.push(text));
    ends.unshift(listening.unlisten);
    proxy.fallSilent();
    lead();
    const arrives = async () => {
      await sql`select pg_notify('news', 'again')`.catch(error);
      return news.length;
    };
    const took = sinceNow();
    await expect.poll(arrives, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(took()).toBeLessThan(10_000);
    expect(listening.reopened).toBe(1);
  }, 40_000);

  test('is detected for a connection that received something while the pulse was pending', async () => {
    const { pool, proxy, ends } = await silenceable();
    const { unlisten } = await pool().listen('news', () => {});
    ends.unshift(unlisten);
    const busy = pool({ max: 1 });
    await busy`select`;
    proxy.silenceFirst();
    // A pulse is sent every two seconds, and is not answered.
    await busy`select from pg_sleep(2.5)`;
    proxy.fallSilent();
    const took = sinceNow();
    expect(await busy`select`.catch(error)).toBeInstanceOf(DatabaseLost);
    expect(took()).toBeLessThan(6_000);
  }, 80_000);

  test('rejects new connections within seconds', async () => {
    const { pool, proxy } = await silenceable();
    proxy.fallSilent();
    const took = sinceNow();
    expect(await pool()`select`.catch(error)).toBeInstanceOf(DatabaseLost);
    expect(took()).toBeLessThan(6_000);
  }, 20_000);
});

test('a statement that outlasts the heartbeat limit is not cut off while the host is alive', async () => {
  const { pool, ends } = await silenceable();
  const sql = pool();
  const { unlisten } = await sql.listen('news', () => {});
  ends.unshift(unlisten);
  expect(await sql`select 1 as n from pg_sleep(7)`).toEqual([{ n: 1 }]);
}, 30_000);

test('a single connection that stops responding is destroyed after the statement timeout', async () => {
  const { pool, proxy } = await silenceable();
  const sql = pool({ kind: 'pulse' });
  await sql`select`;
  const findings = async (silenceMs: number) => {
    const input = { limits: { ...defaultLimits, silenceMs } } as never;
    return (await connectionsSilent.find(input)).map(({ what }) => what);
  };
  const { total } = silentConnections(0);
  expect(await findings(0)).toEqual([]);
  proxy.fallSilent();
  expect(await sql`select`.catch(error)).toMatchObject({
    name: 'DatabaseLost',
    cause: { message: 'no answer within 4 seconds' },
  });
  expect(silentConnections(0).total).toBe(total + 1);
  expect(await findings(1_000)).toEqual([
    expect.stringMatching(
      /^Connections that became silent and were replaced: 1, the last one .* ago; \d+ since/,
    ),
  ]);
}, 20_000);

test.skipIf(!hasOpenssl)(
  'received bytes are counted below TLS',
  async () => {
    const secured = await tcpPostgres(['hostssl all boss 127.0.0.1/32 scram-sha-256'], {}, { tls: true });
    onTestFinished(secured.stop);
    const sql = connect(`postgresql://boss:b0ss@localhost:${secured.port}/postgres?sslmode=require`, {
      name: 'test',
      max: 1,
      kind: 'pulse',
    });
    onTestFinished(() => sql.end());
    // A row each second: exceeds the limit in total, but is never silent.
    const rows = await sql.unsafe(`
    set client_min_messages to notice;
    do $$ begin for n in 1..6 loop perform pg_sleep(1); raise notice '%', n; end loop; end $$`);
    expect(rows).toEqual([]);
  },
  40_000,
);
