/**
 * How long the timeline of a run takes: `node bench/timeline.ts [children]`, 200 by default, against an embedded
 * PostgreSQL. Its data is defined in timeline-data.ts. There are 200,000 other runs. The time is that of one response, including JSON, for the default page and the largest one.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { connect } from '../packages/server/src/db/connect.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import type { Engine } from '../packages/server/src/runs/engine/engine.ts';
import { timelineOf } from '../packages/server/src/runs/timeline/timeline.ts';
import { makeTimeline } from './data/timeline.ts';

const children = Number(process.argv[2] ?? 200);
const rounds = 100;

const folder = await mkdtemp(join(tmpdir(), 'millrace-timeline-'));
const postgres = await startPostgres({ dataDir: folder });
const sql = connect(postgres.connection, { name: 'bench', max: 4 });
try {
  await migrate(sql);
  const run = await makeTimeline(sql, 1, children);
  await sql.unsafe(`
    insert into runs (env, id, task, status, queue_id, attempt, sort_key, created_at, finished_at, parent_id, root_id, depth)
    select 1, 'run_mv' || lpad(n::text, 10, '0'), 'mail', 'COMPLETED', 2, 1, 0, now() - interval '1 day', now() - interval '1 day', 'run_mu' || n / 20, 'run_mu' || n / 20, 1
      from generate_series(1, 200000) n`);
  await sql`analyze`;
  const engine = { sql, clock: { now: () => Date.now() } } as Engine;
  for (const [name, size, logs] of [
    ['by default', 100, 50],
    ['all children', 500, 50],
    ['all children, 500 lines', 500, 500],
  ] as const) {
    const times: number[] = [];
    let text = '';
    let entries = 0;
    for (let round = 0; round < rounds + 10; round++) {
      const begun = performance.now();
      const query = { depth: 2, logs, 'page[size]': size, 'page[after]': undefined };
      const timeline = await timelineOf(engine, 1, run, query, () => true);
      text = JSON.stringify(timeline);
      entries = timeline?.entries.length ?? 0;
      if (round >= 10) times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    const ms = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(1);
    console.log(
      `${name}: p50 ${ms(0.5)} ms, p95 ${ms(0.95)} ms, ${entries} entries, ${Math.round(text.length / 1_000)} kB`,
    );
  }
} finally {
  await sql.end({ timeout: 1 });
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
