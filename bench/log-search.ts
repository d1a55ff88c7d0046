/**
 * How long a search of log lines takes: `node bench/log-search.ts [lines]`, 10,000,000 by default, against an
 * embedded PostgreSQL. The lines are of 100,000 runs of 20 tasks in one day: one in a hundred is an error, one in 100,000 has a rare word,
 * and each has a customer of 50,000 in its properties. For each search: the time of its first page of 50 lines, and how long it takes to
 * read up to 1,000 lines or to the end, page by page.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { connect, type Sql } from '../packages/server/src/db/connect.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import { logIndexer } from '../packages/server/src/runs/logs/blocks.ts';
import type { LineFilter } from '../packages/server/src/runs/logs/filter.ts';
import { searchLines } from '../packages/server/src/runs/logs/search.ts';

const total = Number(process.argv[2] ?? 10_000_000);
const runs = Math.max(1, Math.floor(total / 100));
const rounds = 20;

async function build(sql: Sql): Promise<void> {
  await sql.unsafe(`
    insert into runs (env, id, task, status, queue_id, attempt, sort_key, created_at, started_at, finished_at, updated_at)
    select 1, 'run_' || lpad(n::text, 8, '0'), 'task-' || n % 20, 'COMPLETED', 1, 1, 0, now(), now(), now(), now() from generate_series(0, ${runs - 1}) n`);
  const step = 250_000;
  for (let from = 0; from < total; from += step) {
    await sql.unsafe(`
      insert into run_logs (env, run_id, attempt, at, level, message, properties)
      select 1, 'run_' || lpad((n % ${runs})::text, 8, '0'), 1, now() - interval '1 day' + n * (interval '1 day' / ${total}),
             case when n % 100 = 42 then 'error' when n % 10 = 5 then 'warn' else 'info' end,
             'order ' || md5(n::text) || case when n % 100000 = 77 then ' zanzibar' else ' stored' end || ' after ' || n % 997 || ' ms by worker',
             '{"customer":"c' || n::bigint * 7919 % 50000 || '","step":' || n % 7 || '}'
        from generate_series(${from}, ${Math.min(total, from + step) - 1}) n`);
  }
  await sql`analyze`;
}

async function index(sql: Sql): Promise<number> {
  const job = logIndexer({ sql });
  const begun = performance.now();
  // The first tick only notes up to which line it will index.
  await job.tick();
  while (await job.tick());
  return performance.now() - begun;
}

const searches: readonly (readonly [string, LineFilter])[] = [
  ['no filter', {}],
  ['level error', { levels: ['error'] }],
  ['a word of 1 in 100,000', { text: 'zanzibar' }],
  ['a word that is nowhere', { text: 'quixotic' }],
  ['a word of all', { text: 'stored' }],
  [
    'one line by its hash',
    {
      text: createHash('md5')
        .update(String(Math.floor(total / 3)))
        .digest('hex'),
    },
  ],
  ['a property: one of 50,000 customers', { property: 'customer=c4242' }],
  ['a property of errors of one task', { levels: ['error'], tasks: ['task-2'], property: 'step=3' }],
];

const folder = await mkdtemp(join(tmpdir(), 'millrace-log-search-'));
const postgres = await startPostgres({ dataDir: folder });
const sql = connect(postgres.connection, { name: 'bench', max: 4 });
try {
  await migrate(sql);
  await build(sql);
  const took = await index(sql);
  console.log(
    `${total} lines; blocks written in ${Math.round(took)} ms, ${((took * 1_000) / total).toFixed(1)} µs a line`,
  );
  for (const [name, filter] of searches) {
    const pages: number[] = [];
    const firsts: number[] = [];
    const wholes: number[] = [];
    let lines = 0;
    for (let round = 0; round < rounds; round++) {
      const begun = performance.now();
      let below: number | undefined;
      lines = 0;
      do {
        const pageBegun = performance.now();
        const page = await searchLines(sql, 1, filter, { below, limit: 50 });
        pages.push(performance.now() - pageBegun);
        lines += page.lines.length;
        if (below === undefined) firsts.push(pages.at(-1) ?? 0);
        below = page.next;
      } while (below !== undefined && lines < 1_000);
      wholes.push(performance.now() - begun);
    }
    const ms = (times: number[], share: number): string =>
      (
        times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
      ).toFixed(1);
    console.log(
      `${name}: first page p50 ${ms(firsts, 0.5)} p95 ${ms(firsts, 0.95)} ms; every page p95 ${ms(pages, 0.95)} ms; ${lines} lines in p50 ${ms(wholes, 0.5)} ms, p95 ${ms(wholes, 0.95)} ms`,
    );
  }
} finally {
  await sql.end({ timeout: 1 });
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
