/**
 * Whether failures of one group queue up behind each other: `node bench/errors-one-group.ts [seconds] [rate]`.
 * Two connections, as those of two servers, end `rate` runs a second together (1,000 by default) as failed, in flushes of ten, while the
 * background tallies twice a second on a third: all of one group, then of a thousand; then the same as fast as they can. Wall time of a flush.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { connect, type Sql } from '../packages/server/src/db/connect.ts';
import { newTimedId } from '../packages/server/src/db/ids.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import { introduce } from '../packages/server/src/errors/record/cached-fingerprints.ts';
import { tallyEverywhere } from '../packages/server/src/errors/record/tally.ts';

const seconds = Number(process.argv[2] ?? 10);
const rate = Number(process.argv[3] ?? 1_000);
const size = 10;
const settings = { plan_cache_mode: 'force_generic_plan', jit: 'off' };

const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const postgres = await startPostgres({ dataDir: folder });
const open = (name: string): Sql => connect(postgres.connection, { name, max: 1, settings });
const [tallier, ...writers] = [open('tallier'), open('one'), open('two')] as const;

async function leased(count: number): Promise<{ id: string; fence: string }[]> {
  const ids = Array.from({ length: count }, () => newTimedId('run'));
  await tallier`
    insert into runs (env, id, task, queue_id, payload, sort_key, created_at)
    select 1, id, 'invoice', 1, '{}', 1, now() from unnest(${ids}::text[]) as id`;
  return tallier<{ id: string; fence: string }[]>`
    insert into leases (env, run_id, runner_id, queue_id, key, version_id, attempt, leased_at)
    select 1, id, 'r', 1, '', 1, 1, now() from unnest(${ids}::text[]) as id returning run_id as id, fence`;
}

const error = JSON.stringify({
  type: 'BUILT_IN_ERROR',
  name: 'Error',
  message: 'no',
  stackTrace: 'Error: no',
});

/** Ends runs over one connection. Returns the duration of each flush in milliseconds. */
async function write(
  sql: Sql,
  runs: { id: string; fence: string }[],
  fingerprints: readonly number[],
  every: number,
) {
  const times: number[] = [];
  const begin = performance.now();
  for (let at = 0; at < runs.length; at += size) {
    const due = begin + (at / size) * every;
    if (due > performance.now()) await sleep(due - performance.now());
    const some = runs.slice(at, at + size);
    const before = performance.now();
    await sql`
      select * from complete_attempts(
        now(), ${some.map(() => 1)}::int[], ${some.map(({ id }) => id)}::text[], ${some.map(({ fence }) => fence)}::bigint[],
        ${some.map(() => 'FAILED')}::text[], null, null, ${some.map(() => error)}::text[]::jsonb[], null,
        ${some.map((_, place) => fingerprints[(at + place) % fingerprints.length] ?? null)}::int[])`;
    times.push(performance.now() - before);
  }
  return times;
}

const quantile = (values: readonly number[], share: number): string =>
  (values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN).toFixed(2);

async function round(
  name: string,
  fingerprints: readonly number[],
  count: number,
  every: number,
): Promise<void> {
  const all = await leased(count);
  await tallier`checkpoint`;
  let over = false;
  const background = (async () => {
    while (!over) {
      await tallyEverywhere(tallier);
      await sleep(500);
    }
  })();
  const begin = performance.now();
  const half = Math.ceil(all.length / 2);
  const times = (
    await Promise.all(
      writers.map((sql, place) =>
        write(sql, all.slice(place * half, (place + 1) * half), fingerprints, every),
      ),
    )
  ).flat();
  const took = (performance.now() - begin) / 1_000;
  over = true;
  await background;
  console.log(
    `${name.padEnd(34)} ${(count / took).toFixed(0).padStart(6)} failures a second; a flush of ${size} p50 ${quantile(times, 0.5)}` +
      `  p95 ${quantile(times, 0.95)}  p99 ${quantile(times, 0.99)}  most ${quantile(times, 1)} ms`,
  );
}

try {
  await migrate(tallier);
  await tallier`insert into organizations (id, name) values ('o', 'o')`;
  await tallier`insert into projects (ref, organization_id, name) values ('proj_x', 'o', 'p')`;
  await tallier`insert into environments (public_id, project_id, kind) values ('e1', 1, 'prod')`;
  await tallier`insert into versions (env, version, sequence, content_hash) values (1, '20261121.1', 1, 'x')`;
  const many = await introduce(
    tallier,
    Array.from({ length: 1_000 }, (_, n) => ({
      env: 1,
      task: 'invoice',
      fingerprint: `f${n}`,
      older: [],
      group: `error_${n.toString(16).padStart(16, '0')}`,
      type: 'Error',
      message: `no ${n}`,
      sample: () => '{}',
    })),
    new Date(),
  );
  const single = many.slice(0, 1);
  const every = (1_000 * size * writers.length) / rate;
  await round('warming', many, rate, every);
  for (let n = 0; n < 2; n++) {
    await round(`one group, ${rate} a second`, single, rate * seconds, every);
    await round(`a thousand groups, ${rate} a second`, many, rate * seconds, every);
    await round('one group, as fast as they can', single, rate * seconds * 2, 0);
    await round('a thousand, as fast as they can', many, rate * seconds * 2, 0);
  }
} finally {
  for (const sql of [tallier, ...writers]) await sql.end();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
