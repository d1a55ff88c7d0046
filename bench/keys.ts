/**
 * The cost of concurrency keys for claiming and ending runs: `node bench/keys.ts [rounds] [runs] [keys] [in flight] [at once]`. The same
 * runs under one key and spread over 10,000 (in turn, and at random), without a limit and with one for each key, and the same pinned to 50
 * of 1,000 versions, are claimed 100 at a time and completed, oldest first, with the given number in flight. The figure is the processor
 * time of the PostgreSQL backend, because wall time depends on the machine.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { connect, type Sql } from '../packages/server/src/db/connect.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import { insertRuns } from '../packages/server/src/runs/create/insert.ts';
import { newRun } from './src/new-run.ts';

const rounds = Number(process.argv[2] ?? 5);
const runs = Number(process.argv[3] ?? 30_000);
const manyKeys = Number(process.argv[4] ?? 10_000);
const inFlight = Number(process.argv[5] ?? 1_000);
const size = Number(process.argv[6] ?? 100);
/** Versions that the environment has, and to which of them runs are pinned. */
const versions = 1_000;
const waitingVersions = Array.from({ length: 50 }, (_, n) => 1 + n * 20);

interface Figures {
  claim: number[];
  complete: number[];
  claimWall: number[];
  completeWall: number[];
  claims: number[];
}

interface Side {
  readonly name: string;
  readonly keys: number;
  /** Which key the nth run has. */
  readonly keyOf: (n: number) => number;
  /** Concurrent runs per key; null for no limit. */
  readonly limit: number | null;
  /** The versions to which runs are pinned in turn; 0 for none. */
  readonly pinned: readonly number[];
  readonly sql: Sql;
  readonly pid: number;
  readonly figures: Figures;
}

async function prepare(sql: Sql, limit: number | null): Promise<number> {
  await migrate(sql);
  await sql`insert into organizations (id, name) values ('o', 'o')`;
  await sql`insert into projects (ref, organization_id, name) values ('proj_x', 'o', 'p')`;
  await sql`insert into environments (public_id, project_id, kind) values ('e1', 1, 'prod')`;
  await sql`
    insert into versions (env, version, sequence, content_hash)
    select 1, '20261121.' || n, n, n from generate_series(1, ${versions}::int) n`;
  await sql`insert into current_versions values (1, 1)`;
  await sql`insert into queues (env, name, concurrency_limit) values (1, 'task/t', ${limit})`;
  await sql`insert into tasks select n, 't', '{}' from generate_series(1, ${versions}::int) n`;
  await sql`
    insert into runners (id, env, host, pid, connection, connected_at, expires_at)
    values ('r', 1, 'h', 1, 'c', now(), now() + interval '1 day')`;
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid ?? 0;
}

/** Processor time of a process so far, in microseconds. */
async function spent(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1_000;
}

async function trigger({ sql, keyOf, pinned }: Side): Promise<void> {
  const payload = JSON.stringify({ pad: 'x'.repeat(160) });
  for (let at = 0; at < runs; at += 500) {
    const now = Date.now();
    const some = Array.from({ length: Math.min(500, runs - at) }, (_, n) =>
      newRun({
        task: 't',
        queueId: 1,
        concurrencyKey: `key ${keyOf(at + n)}`,
        pinnedVersion: pinned[(at + n) % pinned.length] ?? 0,
        payload,
        now,
      }),
    );
    await insertRuns({ sql, clock: Date }, some);
  }
}

interface Leased {
  readonly run: string;
  readonly fence: string;
}

async function round(side: Side): Promise<void> {
  const { sql, pid, figures, pinned } = side;
  await trigger(side);
  const cost = { claim: 0, complete: 0, claimWall: 0, completeWall: 0 };
  const timed = async <T>(what: 'claim' | 'complete', act: () => Promise<T>): Promise<T> => {
    const before = await spent(pid);
    const started = performance.now();
    const result = await act();
    cost[`${what}Wall`] += (performance.now() - started) * 1_000;
    cost[what] += (await spent(pid)) - before;
    return result;
  };
  const leased: Leased[] = [];
  let cursor = '(-1,0,)';
  let claimed = 0;
  let claims = 0;
  for (;;) {
    const rows = await timed(
      'claim',
      () => sql<{ run_id: string; fence: string; next_cursor: string }[]>`
        select * from claim_runs(1, 'r', ${[0, 1, ...pinned.filter((key) => key > 1)]}::int[], 1, ${size}, ${cursor}::ring_cursor, now())`,
    );
    claims++;
    cursor = rows[0]?.next_cursor ?? cursor;
    claimed += rows.length;
    for (const row of rows) leased.push({ run: row.run_id, fence: row.fence });
    if (leased.length < inFlight && rows.length > 0) continue;
    const some = leased.splice(0, size);
    if (some.length === 0) break;
    await timed(
      'complete',
      () => sql`
        select count(*) from complete_attempts(now(), ${some.map(() => 1)}::int[], ${some.map((run) => run.run)}::text[],
          ${some.map((run) => run.fence)}::bigint[], ${some.map(() => 'COMPLETED')}::text[], ${some.map(() => '1')}::text[],
          ${some.map(() => 'application/json')}::text[], null, null, null)`,
    );
  }
  if (claimed !== runs) throw new Error(`${claimed} of ${runs} runs were claimed`);
  for (const what of ['claim', 'complete', 'claimWall', 'completeWall'] as const)
    figures[what].push(cost[what] / runs);
  figures.claims.push(claims);
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const postgres = await startPostgres({ dataDir: folder });
try {
  const sides: Side[] = [];
  const oneKey = () => 0;
  const inTurn = (n: number) => n % manyKeys;
  // The same in every run of the benchmark.
  const atRandom = (n: number) => (Math.imul(n + 1, 2_654_435_761) >>> 7) % manyKeys;
  const asMany = (n: number) => n % waitingVersions.length;
  for (const [name, keys, keyOf, limit, pinned] of [
    ['one key', 1, oneKey, null, [0]],
    ['many, in turn', manyKeys, inTurn, null, [0]],
    ['many, at random', manyKeys, atRandom, null, [0]],
    [`${waitingVersions.length} keys`, waitingVersions.length, asMany, null, [0]],
    [`one key, ${waitingVersions.length} of ${versions} versions`, 1, oneKey, null, waitingVersions],
    ['one key, limited', 1, oneKey, inFlight + size, [0]],
    ['many, in turn, limited', manyKeys, inTurn, 5, [0]],
    ['many, at random, limited', manyKeys, atRandom, 5, [0]],
  ] as const) {
    const database = `keys_${sides.length}`;
    const admin = connect(postgres.connection, { name: 'bench', max: 1 });
    await admin.unsafe(`create database ${database}`);
    await admin.end();
    const sql = connect({ ...postgres.connection, database }, { name: 'bench', max: 1 });
    const pid = await prepare(sql, limit);
    const figures = { claim: [], complete: [], claimWall: [], completeWall: [], claims: [] };
    sides.push({ name, keys, keyOf, limit, pinned, sql, pid, figures });
  }
  // In turn, so that other load on the machine affects all.
  for (let n = 0; n < rounds; n++) for (const side of sides) await round(side);
  // Each round against the same round of the side with one key.
  const ratio = (side: Side, of: (figures: Figures, n: number) => number): string => {
    const baseline = sides.find(
      (other) => other.keys === 1 && (other.limit === null) === (side.limit === null),
    );
    return median(
      side.figures.claim.map((_, n) => of(side.figures, n) / of(baseline?.figures ?? side.figures, n)),
    ).toFixed(2);
  };
  const us = (values: readonly number[]) => median(values).toFixed(1);
  console.table(
    sides.map((side) => ({
      '': side.name,
      'claim, µs a run': us(side.figures.claim),
      'against one key': ratio(side, ({ claim }, n) => claim[n] ?? Number.NaN),
      'complete, µs a run': us(side.figures.complete),
      'complete against one': ratio(side, ({ complete }, n) => complete[n] ?? Number.NaN),
      'both against one': ratio(
        side,
        ({ claim, complete }, n) => (claim[n] ?? Number.NaN) + (complete[n] ?? Number.NaN),
      ),
      'wall, claim': us(side.figures.claimWall),
      'wall, complete': us(side.figures.completeWall),
      claims: median(side.figures.claims),
    })),
  );
  await Promise.all(sides.map(({ sql }) => sql.end()));
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
