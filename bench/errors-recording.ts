/**
 * The cost of recording an error at the end of a failed run: `node bench/errors-recording.ts [rounds] [size]`.
 * Runs end in flushes of `size`, 200 by default, through the statement of the server (`complete_attempts`), against an embedded PostgreSQL:
 * completed, failed with nothing recorded, and failed with their errors in 1, 20 or as many groups as runs. Every round measures all of
 * them, in turn. The measure is the processor time of PostgreSQL's process according to the kernel, which excludes other processes.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { connect } from '../packages/server/src/db/connect.ts';
import { newTimedId } from '../packages/server/src/db/ids.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import { identifyFailures } from '../packages/server/src/errors/record/identify.ts';
import { tally } from '../packages/server/src/errors/record/tally.ts';

const rounds = Number(process.argv[2] ?? 8);
const size = Number(process.argv[3] ?? 200);
const flushes = Math.max(1, Math.round(8_000 / size));
const runs = flushes * size;

/** A unique name without digits, because digits do not identify a function. */
const word = (n: number): string =>
  Array.from(n.toString(26), (digit) => 'abcdefghijklmnopqrstuvwxyz'[Number.parseInt(digit, 26)]).join('');

const stack = (n: number) => `Error: The rule ${word(n)} refuses the invoice ${n}
    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)
    at async Pool.connect (/srv/app/node_modules/pg-pool/index.js:45:11)
    at async load${word(n)}Invoice (/srv/app/dist/tasks/invoice.js:${(n % 90) + 10}:18)
    at async run (/srv/app/dist/tasks/invoice.js:88:5)`;
const errorOf = (n: number) => ({
  type: 'BUILT_IN_ERROR' as const,
  name: 'Error',
  message: `The rule ${word(n)} refuses the invoice ${n}`,
  stackTrace: stack(n),
});

const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const postgres = await startPostgres({ dataDir: folder });
const sql = connect(postgres.connection, {
  name: 'bench',
  max: 1,
  settings: { plan_cache_mode: 'force_generic_plan', jit: 'off' },
});

/** Processor time of a process in nanoseconds. */
const spentBy = (pid: number): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]);

async function prepare(): Promise<number> {
  await migrate(sql);
  await sql`insert into organizations (id, name) values ('o', 'o')`;
  await sql`insert into projects (ref, organization_id, name) values ('proj_x', 'o', 'p')`;
  await sql`insert into environments (public_id, project_id, kind) values ('e1', 1, 'prod')`;
  await sql`insert into versions (env, version, sequence, content_hash) values (1, '20261121.1', 1, 'x')`;
  await sql`insert into queues (env, name) values (1, 'task/invoice')`;
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid ?? 0;
}

/** Runs that are leased, as a claim leaves them. */
async function leased(): Promise<{ id: string; fence: string }[]> {
  const ids: string[] = [];
  for (let n = 0; n < runs; n++) ids.push(newTimedId('run'));
  await sql`
    insert into runs (env, id, task, queue_id, payload, sort_key, created_at)
    select 1, id, 'invoice', 1, repeat('x', 160), 1, now() from unnest(${ids}::text[]) as id`;
  return sql<{ id: string; fence: string }[]>`
    insert into leases (env, run_id, runner_id, queue_id, key, version_id, attempt, leased_at)
    select 1, id, 'r', 1, '', 1, 1, now() from unnest(${ids}::text[]) as id
    returning run_id as id, fence`;
}

type End = (place: number) => { readonly error: number | undefined; readonly fingerprint: number | null };

async function endAll(pid: number, end: End): Promise<number> {
  const all = await leased();
  await sql`checkpoint`;
  const before = spentBy(pid);
  for (let at = 0; at < runs; at += size) {
    const some = all.slice(at, at + size).map((run, place) => ({ ...run, ...end(at + place) }));
    const failed = some[0]?.error !== undefined;
    await sql`
      select * from complete_attempts(
        now(), ${some.map(() => 1)}::int[], ${some.map(({ id }) => id)}::text[], ${some.map(({ fence }) => fence)}::bigint[],
        ${some.map(() => (failed ? 'FAILED' : 'COMPLETED'))}::text[], ${failed ? null : some.map(() => '1')}::text[],
        ${failed ? null : some.map(() => 'application/json')}::text[],
        ${failed ? some.map(({ error = 0 }) => JSON.stringify(errorOf(error))) : null}::text[]::jsonb[], null,
        ${some.every(({ fingerprint }) => fingerprint === null) ? null : some.map(({ fingerprint }) => fingerprint)}::int[])`;
  }
  return (spentBy(pid) - before) / 1_000 / runs;
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

try {
  const pid = await prepare();
  const identify = identifyFailures(sql, () => undefined);
  const failures = Array.from({ length: runs }, (_, n) => ({ env: 1, task: 'invoice', error: errorOf(n) }));
  const known = await identify(failures, new Date());
  if (new Set(known).size < runs * 0.95) throw new Error('the errors are too much alike');
  const sides: Readonly<Record<string, End>> = {
    completed: () => ({ error: undefined, fingerprint: null }),
    'failed, not recorded': (n) => ({ error: n, fingerprint: null }),
    'failed, 1 group': (n) => ({ error: n, fingerprint: known[0] ?? null }),
    'failed, 20 groups': (n) => ({ error: n, fingerprint: known[n % 20] ?? null }),
    'failed, a group each': (n) => ({ error: n, fingerprint: known[n] ?? null }),
  };
  const names = Object.keys(sides);
  const figures = new Map(names.map((name) => [name, [] as number[]]));
  const ratios = new Map(names.map((name) => [name, [] as number[]]));
  const tallying = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = -1; round < rounds; round++) {
    const spent = new Map<string, number>();
    for (const name of names) {
      spent.set(name, await endAll(pid, sides[name] as End));
      const before = spentBy(pid);
      await tally(sql, 1);
      if (round >= 0) tallying.get(name)?.push((spentBy(pid) - before) / 1_000 / runs);
    }
    // The first one warms up.
    if (round < 0) continue;
    for (const [name, us] of spent) {
      figures.get(name)?.push(us);
      ratios.get(name)?.push(us / (spent.get('failed, not recorded') ?? Number.NaN));
    }
  }
  console.log(
    `PostgreSQL, flushes of ${size}, ${rounds} rounds of ${runs} runs; µs of processor a run, median`,
  );
  for (const name of names) {
    const percent = (ratio: number) => `${((ratio - 1) * 100).toFixed(1)} %`;
    const all = ratios.get(name) ?? [];
    console.log(
      `${name.padEnd(22)} ${median(figures.get(name) ?? [])
        .toFixed(1)
        .padStart(7)}` +
        `   compared with unrecorded ${percent(median(all)).padStart(8)} (${percent(Math.min(...all))} to ${percent(Math.max(...all))})` +
        `   tallied later ${median(tallying.get(name) ?? []).toFixed(1)}`,
    );
  }

  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { user, system } = process.cpuUsage();
    await identify(failures, new Date());
    const after = process.cpuUsage({ user, system });
    times.push((after.user + after.system) / runs);
  }
  console.log(`server: ${median(times).toFixed(1)} µs of processor a failed run, to find its fingerprint`);
} finally {
  await sql.end();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
