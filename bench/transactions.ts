/**
 * The cost of triggers in transactions: `npx node bench/transactions.ts [rows]`, on an embedded PostgreSQL.
 *
 * 1. Transactions of one insert, without and with `trigger(tx)`, by turns on one warm connection: the difference of the medians. The measure:
 *    at most 0.3 ms.
 * 2. How fast rows are delivered: from an outbox in the server's database, and from another database over HTTP. The measure: at least
 *    5,000 a second.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { trigger } from '../packages/sdk/src/transactions/index.ts';
import { masterKeyOf } from '../packages/server/src/auth/seal.ts';
import { connect } from '../packages/server/src/db/connect.ts';
import { createLog } from '../packages/server/src/logger.ts';
import { drainOutbox } from '../packages/server/src/outbox/drain.ts';
import { outboxSql } from '../packages/server/src/outbox/rows.ts';
import { startServer } from '../packages/server/src/server.ts';
import { promote } from '../test/support/promote.ts';
import { Client } from 'pg';

const rows = Number(process.argv[2] ?? 20_000);
const folder = await mkdtemp(join(tmpdir(), 'bench-transactions-'));
const postgres = await startPostgres({ dataDir: folder });
const start = () =>
  startServer({
    database: postgres.connection,
    port: 0,
    masterKey: masterKeyOf(Buffer.alloc(32, 1)),
    log: createLog(process.stderr, 'warn'),
  });
let server = await start();
const key = server.credentials?.environments.prod.secretKey ?? '';
const ask = async (path: string, body?: unknown) => {
  const response = await fetch(server.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response.json();
};
const { environment } = (await ask('/api/v1/whoami')) as { environment: { id: string } };
await ask('/runner/v1/versions', {
  contentHash: 'bench-transactions',
  tasks: [{ id: 'mail', filePath: 'a.ts' }],
});
await promote(server.url, key);

const own = connect(postgres.connection, { name: 'bench', max: 2 });
await own.unsafe('create database elsewhere');
const pieces = postgres.connection as { host: string; port?: number; username: string; password?: string };
const elsewhere = { ...pieces, database: 'elsewhere' };
const other = connect(elsewhere, { name: 'bench', max: 2 });
for (const sql of [own, other]) {
  await sql.unsafe(await outboxSql(environment.id));
  await sql.unsafe('create table app (id bigint generated always as identity primary key, note text)');
}

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const client = new Client({ ...elsewhere, user: pieces.username });
await client.connect();
const transact = async (withTrigger: boolean): Promise<number> => {
  const at = performance.now();
  await client.query('begin');
  await client.query('insert into app (note) values ($1)', ['note']);
  if (withTrigger) await trigger(client, 'mail', { user: 7, note: 'x'.repeat(150) }, { tags: ['a'] });
  await client.query('commit');
  return performance.now() - at;
};
for (let n = 0; n < 500; n++) await transact(n % 2 === 0);
const without: number[] = [];
const withIt: number[] = [];
for (let n = 0; n < 3_000; n++) {
  without.push(await transact(false));
  withIt.push(await transact(true));
}
const [a, b] = [median(without), median(withIt)];
console.log(
  `transaction ${a.toFixed(3)} ms, with trigger(tx) ${b.toFixed(3)} ms: ${(b - a).toFixed(3)} ms more`,
);
await client.end();

const fill = (sql: typeof own) =>
  sql`select count(millrace.trigger('mail', jsonb_build_object('n', n, 'note', repeat('x', 150)), '{}')) from generate_series(1, ${rows}::int) n`;
const print = (where: string, count: number, ms: number) =>
  console.log(
    `${where}: ${count} rows in ${ms.toFixed(0)} ms, ${((count / ms) * 1_000).toFixed(0)} a second`,
  );
try {
  // Another database, over HTTP.
  await other.unsafe('truncate millrace.outbox');
  await fill(other);
  let at = performance.now();
  await drainOutbox({
    database: elsewhere,
    environment: environment.id,
    once: true,
    signal: new AbortController().signal,
    onError: () => false,
    send: async (items) =>
      ((await ask('/api/v1/outbox', { items })) as { results: { id: string; run: string }[] }).results,
  });
  print('another database', rows, performance.now() - at);

  // The server's database, filled while no server runs.
  await server.close();
  await fill(own);
  server = await start();
  at = performance.now();
  const left = async (): Promise<number> =>
    (await own<{ n: number }[]>`select count(*)::int as n from millrace.outbox`)[0]?.n ?? 0;
  const before = await left();
  while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  print("the server's database", before, performance.now() - at);
} finally {
  await own.end();
  await other.end();
  await server.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
