/**
 * The cost of metrics and time series: `node bench/stats.ts`, against an embedded PostgreSQL.
 *
 * - Time series of an environment with 10 million runs in 50 tasks and queues: roll-ups of 2 days by the minute, 90 by the hour and 730 by the
 *   day, with 30 buckets each. Reads do not touch `runs`.
 * - A scrape, and a sample, with 1,000,000 waiting runs in 10,000 concurrency keys; the scrape over HTTP, of a real server.
 * - A flush of 1, 100 and 1,000 tasks.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { masterKeyOf } from '../packages/server/src/auth/seal.ts';
import { connect, type Sql } from '../packages/server/src/db/connect.ts';
import { startServer } from '../packages/server/src/server.ts';
import { statsFlusher } from '../packages/server/src/telemetry/stats/flush.ts';
import { createRunStats } from '../packages/server/src/telemetry/stats/record.ts';
import { makeRollUps } from './data/stats.ts';

const tasks = 50;
const keys = 10_000;
const waiting = 1_000_000;

const percentile = (times: readonly number[], q: number): string =>
  (times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * q))] ?? 0).toFixed(1);

async function timed(count: number, act: () => Promise<unknown>): Promise<string> {
  const taken: number[] = [];
  for (let round = 0; round < count; round++) {
    const begun = performance.now();
    await act();
    taken.push(performance.now() - begun);
  }
  return `least ${percentile(taken, 0)} ms, p50 ${percentile(taken, 0.5)} ms, p95 ${percentile(taken, 0.95)} ms, most ${percentile(taken, 1)} ms`;
}

async function buildBacklog(sql: Sql, env: number): Promise<void> {
  await sql`insert into queues (env, name) values (${env}, 'bulk')`;
  await sql`
    insert into lanes (env, queue_id, key, pinned_version)
    select ${env}, q.id, 'key' || n, 0 from queues q cross join generate_series(1, ${keys}) n where q.name = 'bulk'`;
  await sql`
    insert into runs (env, id, task, queue_id, concurrency_key, sort_key, created_at)
    select l.env, 'run_' || lpad(l.id::text, 8, '0') || lpad(n::text, 8, '0'), 'bulk', l.queue_id, l.key,
           (extract(epoch from now()) * 1000)::bigint - n * 1000, now()
      from lanes l cross join generate_series(1, ${waiting / keys}) n`;
  await sql`
    insert into queued (lane_id, sort_key, run_id, env)
    select l.id, r.sort_key, r.id, r.env from runs r join lanes l on l.queue_id = r.queue_id and l.key = r.concurrency_key`;
}

const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const postgres = await startPostgres({ dataDir: folder, settings: { max_wal_size: '4GB' } });
const quiet = {
  info() {},
  warn: (event: string, fields: unknown) => console.error(event, fields),
  error: console.error,
};
const server = await startServer({
  database: postgres.connection,
  port: 0,
  masterKey: masterKeyOf(Buffer.alloc(32, 1)),
  log: quiet,
});
try {
  const sql = connect(postgres.connection, { name: 'bench', max: 2 });
  const key = server.credentials?.environments.prod.secretKey ?? '';
  const [prod] = await sql<{ id: number }[]>`select id from environments where kind = 'prod'`;
  const env = prod?.id ?? 0;
  await makeRollUps(sql, env, tasks);
  const read = async (query: string): Promise<void> => {
    const response = await fetch(`${server.url}/api/v1/stats?${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
  };
  console.log('GET /api/v1/stats, whole requests:');
  for (const query of [
    'period=1h',
    'period=24h',
    'period=48h&step=5m',
    'period=7d',
    'period=30d',
    'period=60d&step=3h',
    'period=700d&step=1d',
    'period=24h&task=t7',
    'period=16h&step=1m&queue=task/t7',
    'period=24h&version=2026.1',
    'period=95m&step=1m&by=task',
    'period=2h&by=task',
    'period=24h&by=task',
    'period=24h&by=queue&limit=20',
    'period=4d&step=1h&by=task',
    'period=98d&step=1d&by=task',
  ])
    console.log(`  ${query.padEnd(34)} ${await timed(60, () => read(query))}`);

  for (const count of [1, 100, 1_000]) {
    const stats = createRunStats();
    const flusher = statsFlusher({ sql, clock: { now: Date.now }, stats });
    const flush = async (): Promise<void> => {
      for (let task = 0; task < count; task++) {
        const subject = { env, task: `f${task}`, queue: `task/f${task}`, version: '2026.1' };
        for (let run = 0; run < 5; run++) {
          stats.count(subject, 'completed', Date.now());
          stats.started(subject, run * 10, Date.now());
          stats.ended(subject, run * 70, Date.now());
        }
      }
      await flusher.stop?.();
    };
    console.log(`a flush of ${count} tasks with 5 runs each: ${await timed(20, flush)}`);
  }

  const stats = createRunStats();
  const subject = { env, task: 't1', queue: 'task/t1', version: '2026.1' };
  const begun = performance.now();
  for (let run = 0; run < 1_000_000; run++) {
    stats.count(subject, 'triggered', 1_790_000_000_000);
    stats.started(subject, run % 1_000, 1_790_000_000_000);
    stats.count(subject, 'completed', 1_790_000_000_000);
    stats.ended(subject, run % 5_000, 1_790_000_000_000);
  }
  console.log(`counting a run in memory: ${((performance.now() - begun) / 1_000).toFixed(2)} µs`);

  await buildBacklog(sql, env);
  console.log(`built ${waiting} waiting runs in ${keys} concurrency keys`);
  const metrics = async (): Promise<string> => (await fetch(server.metricsUrl)).text();
  for (;;) {
    const text = await metrics();
    if (text.includes(`queue="bulk",state="ready"} ${waiting}`)) {
      console.log(
        text
          .split('\n')
          .filter((line) => line.startsWith('millrace_sample_'))
          .join('\n'),
      );
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const uncached = async (): Promise<void> => {
    await metrics();
  };
  const taken: number[] = [];
  for (let round = 0; round < 20; round++) {
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const from = performance.now();
    await uncached();
    taken.push(performance.now() - from);
  }
  console.log(
    `a scrape that is not cached: p50 ${percentile(taken, 0.5)} ms, p95 ${percentile(taken, 0.95)} ms, most ${percentile(taken, 1)} ms`,
  );
  await sql.end();
} finally {
  await server.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
