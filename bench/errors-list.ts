/**
 * How long a page of error groups takes: `node --conditions millrace-source bench/errors-list.ts [occurrences] [groups] [lists]`, by
 * default 2,000,000 occurrences in 100,000 groups over 90 days and 600 lists of random range, filter, search, order and place.
 * The data is made in SQL: a few groups have most of it, half of the groups lived for two days only, a version a day.
 * Uses the PostgreSQL of DATABASE_URL (an empty database; one that this made is used again), else an embedded one.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listErrors } from '@millrace/contract';
import { startPostgres } from '../packages/millrace/src/postgres/index.ts';
import { connect, type Database } from '../packages/server/src/db/connect.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import { listErrorGroups } from '../packages/server/src/errors/list.ts';
import { thinTallies } from '../packages/server/src/errors/prune.ts';

const occurrences = Number(process.argv[2] ?? 2_000_000);
const groups = Number(process.argv[3] ?? 100_000);
const lists = Number(process.argv[4] ?? 600);
const days = 90;
const tasks = 50;
const now = new Date('2026-11-21T12:00:00Z');
const dayMs = 86_400_000;
const start = new Date(now.getTime() - days * dayMs);

const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const postgres = process.env['DATABASE_URL'] ? undefined : await startPostgres({ dataDir: folder });
const database: Database = process.env['DATABASE_URL'] ?? (postgres?.connection as Database);
const sql = connect(database, { name: 'bench', max: 1 });

async function build(): Promise<void> {
  await sql`insert into organizations (id, name) values ('o', 'o')`;
  await sql`insert into projects (ref, organization_id, name) values ('proj_x', 'o', 'p')`;
  await sql`insert into environments (public_id, project_id, kind) values ('e1', 1, 'prod')`;
  await sql`
    insert into versions (env, version, sequence, content_hash)
    select 1, to_char(${start}::timestamptz + n * interval '1 day', 'YYYYMMDD') || '.1', n + 1, n::text
      from generate_series(0, ${days}::int) n order by n`;
  await sql`
    insert into error_fingerprints (env, task, fingerprint, own_group, group_id)
    select 1, 't' || abs(hashint4(n)) % ${tasks}::int, 'm1-' || md5(n::text), id, id
      from (select n, 'error_' || left(md5('g' || n), 16) as id from generate_series(1, ${groups}::int) n) n order by n`;
  const words = sql`array['invoice','payment','socket','timeout','refused','parse','schema','tenant','stripe','redis','quota','webhook',
    'upload','image','export','ledger','cursor','session','mailer','search']`;
  await sql`
    insert into error_samples (fingerprint_id, type, message, sample)
    select id, (array['Error','TypeError','RangeError','TimeoutError','AxiosError','ZodError'])[1 + id % 6],
           'The ' || w[1 + id % 20] || ' of ' || w[1 + id / 20 % 20] || ' failed in ' || w[1 + id / 400 % 20] || ' with '
             || left(md5(id::text), 6), '{}'
      from error_fingerprints, (select ${words} as w) w`;
  await sql`create unlogged table made (fingerprint_id int, at timestamptz, n int)`;
  for (let from = 0; from < occurrences; from += 1_000_000) {
    await sql`
      insert into made
      select id, ${start}::timestamptz + date_trunc('milliseconds', least(begun + random() * lived, interval '90 days')), 1
        from (
          select id, case when id % 2 = 0 then id * 7919 % 88 * interval '1 day' else interval '0' end as begun,
                 case when id % 2 = 0 then interval '2 days' else interval '90 days' end as lived
            from (select 1 + floor(power(random(), 4) * ${groups}::int)::int as id
                    from generate_series(1, ${Math.min(1_000_000, occurrences - from)}::int)) r) r`;
    process.stderr.write(`${from} occurrences\r`);
  }
  // every group occurred at least once
  await sql`
    insert into made select id, ${start}::timestamptz + date_trunc('milliseconds', random() * interval '90 days'), 1
      from generate_series(1, ${groups}::int) id`;
  await sql`create index on made (fingerprint_id)`;
  const parts = await sql<{ least: number; most: number }[]>`
    select min(fingerprint_id) as least, max(fingerprint_id) as most
      from (select fingerprint_id, (sum(count(*)) over (order by fingerprint_id) / 1000000)::int as part
              from made group by fingerprint_id) p group by part order by 1`;
  for (const { least, most } of parts) {
    await sql`
      insert into error_tallies (env, fingerprint_id, at, version, total, version_total)
      select 1, fingerprint_id, at, version, sum(n) over (partition by fingerprint_id order by at, version),
             sum(n) over (partition by fingerprint_id, version order by at)
        from (select fingerprint_id, at, 1 + floor(extract(epoch from at - ${start}::timestamptz) / 86400)::int as version, sum(n) as n
                from made where fingerprint_id between ${least} and ${most} group by 1, 2, 3) m`;
    process.stderr.write(`fingerprints up to ${most}\r`);
  }
  await sql`drop table made`;
  await sql`
    insert into error_versions (env, fingerprint_id, version, total, first_seen, last_seen)
    select 1, fingerprint_id, version, max(version_total), min(at), max(at) from error_tallies group by 2, 3`;
  await sql`
    update error_fingerprints f set total = t.total, first_seen = t.first, last_seen = t.last
      from (select fingerprint_id, max(total) as total, min(at) as first, max(at) as last from error_tallies group by 1) t
     where t.fingerprint_id = f.id`;
  await sql`
    insert into error_groups (env, id, fingerprint, task, type, message, total, first_seen, last_seen, status, resolved_at, ignored_at)
    select 1, f.group_id, f.fingerprint, f.task, s.type, s.message, f.total, f.first_seen, f.last_seen,
           case f.id % 10 when 0 then 'resolved' when 1 then 'ignored' else 'unresolved' end,
           case f.id % 10 when 0 then ${now}::timestamptz end, case f.id % 10 when 1 then ${now}::timestamptz end
      from error_fingerprints f join error_samples s on s.fingerprint_id = f.id`;
  await sql`insert into error_texts (env, group_id, type, message) select env, id, type, message from error_groups`;
  await sql.unsafe('vacuum analyze');
  let thinned = performance.now();
  while (await thinTallies(sql, now));
  thinned = performance.now() - thinned;
  console.log(`tallies before ${days - 60} days ago thinned in ${(thinned / 1_000).toFixed(0)} s`);
  await sql.unsafe('vacuum analyze');
}

let seed = 1;
const random = (): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
};
const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
const ago = (most: number): number => now.getTime() - Math.floor(random() * most * dayMs);

type Parameters = Readonly<Record<string, string>>;
const past = (hours: number): Parameters => {
  const from = ago(89);
  return { 'filter[from]': String(from), 'filter[to]': String(from + hours * 3_600_000) };
};
const version = (): string => new Date(ago(89)).toISOString().slice(0, 10).replaceAll('-', '') + '.1';
const ranges: Readonly<Record<string, () => Parameters>> = {
  always: () => ({}),
  '1h': () => ({ 'filter[period]': '1h' }),
  '24h': () => ({ 'filter[period]': '24h' }),
  '7d': () => ({ 'filter[period]': '7d' }),
  '30d': () => ({ 'filter[period]': '30d' }),
  'an hour of the past': () => past(1),
  'a day of the past': () => past(24),
  'a week of the past': () => past(168),
  'up to a day': () => ({ 'filter[to]': String(ago(80)) }),
};
const filters: Readonly<Record<string, () => Parameters>> = {
  none: () => ({}),
  task: () => ({ 'filter[taskIdentifier]': `t${Math.floor(random() * tasks)}` }),
  version: () => ({ 'filter[version]': version() }),
  'version and task': () => ({ 'filter[version]': version(), 'filter[taskIdentifier]': 't7' }),
  resolved: () => ({ 'filter[status]': 'resolved' }),
  unresolved: () => ({ 'filter[status]': 'unresolved' }),
  'a word': () => ({ 'filter[search]': oneOf(['invoice', 'failed', 'TypeError', 'stripe of redis']) }),
  'a rare word': () => ({ 'filter[search]': oneOf(['with c4ca42', 'a87ff6', 'nothing has this']) }),
  'two letters': () => ({ 'filter[search]': oneOf(['in', 'zz', '4f', 'xq']) }),
  'a letter': () => ({ 'filter[search]': oneOf(['e', '~', '7']) }),
  'word, task, resolved': () => ({
    'filter[search]': 'redis',
    'filter[taskIdentifier]': 't3,t4',
    'filter[status]': 'resolved',
  }),
};

const quantile = (values: readonly number[], share: number): string =>
  (values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN).toFixed(1);

try {
  await migrate(sql);
  const [built] = await sql`select 1 from error_groups limit 1`;
  if (!built) await build();
  const [size] = await sql<{ rows: number; bytes: string }[]>`
    select (select reltuples::float8 from pg_class where relname = 'error_tallies') as rows,
           pg_size_pretty(pg_total_relation_size('error_tallies')) as bytes`;
  console.log(`${occurrences} occurrences, ${groups} groups; ${size?.rows} tallies, ${size?.bytes}`);
  const ids = (await sql<{ id: string }[]>`select id from error_groups order by md5(id) limit 2000`).map(
    (row) => row.id,
  );
  const [self] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  /** Milliseconds that PostgreSQL's process has had of a processor: what others on the machine do changes little about it. */
  const spent = (): number => {
    try {
      return Number(readFileSync(`/proc/${self?.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
    } catch {
      return Number.NaN;
    }
  };
  const taken: {
    ms: number;
    cpu: number;
    range: string;
    filter: string;
    sort: string;
    page: string;
    asked: Parameters;
  }[] = [];
  const ask = async (parameters: Parameters): Promise<number> => {
    const query = listErrors.query.parse(parameters);
    const begin = performance.now();
    await listErrorGroups(sql, { env: 1, query, now });
    return performance.now() - begin;
  };
  for (let n = 0; n < lists; n++) {
    const [range, filter] = [oneOf(Object.keys(ranges)), oneOf(Object.keys(filters))];
    const sort = oneOf(['lastSeen', 'lastSeen', 'count', 'firstSeen']);
    const page = oneOf(['first', 'after', 'before']);
    const asked = {
      ...ranges[range]?.(),
      ...filters[filter]?.(),
      sort,
      'page[size]': oneOf(['25', '25', '100']),
      ...(page !== 'first' && { [`page[${page}]`]: oneOf(ids) }),
    };
    const before = spent();
    const ms = await ask(asked);
    taken.push({ ms, cpu: spent() - before, range, filter, sort, page, asked });
  }
  for (const by of ['range', 'filter', 'sort', 'page'] as const) {
    for (const name of new Set(taken.map((one) => one[by]))) {
      const some = taken.filter((one) => one[by] === name);
      const [times, cpu] = [some.map((one) => one.ms), some.map((one) => one.cpu)];
      console.log(
        `${by.padEnd(7)}${name.padEnd(22)}${String(times.length).padStart(4)}  p50 ${quantile(times, 0.5).padStart(6)}` +
          `  p95 ${quantile(times, 0.95).padStart(6)}  most ${quantile(times, 1).padStart(6)} ms` +
          `   processor p50 ${quantile(cpu, 0.5).padStart(6)}  p95 ${quantile(cpu, 0.95).padStart(6)} ms`,
      );
    }
  }
  const all = taken.map((one) => one.ms);
  const cpu = taken.map((one) => one.cpu);
  console.log(
    `all    ${' '.repeat(22)}${all.length}  p50 ${quantile(all, 0.5)}  p95 ${quantile(all, 0.95)}  p99 ${quantile(all, 0.99)}  most ${quantile(all, 1)} ms` +
      `; processor p50 ${quantile(cpu, 0.5)}  p95 ${quantile(cpu, 0.95)}  p99 ${quantile(cpu, 0.99)} ms`,
  );
  for (const { ms, cpu: own, asked } of taken.toSorted((a, b) => b.cpu - a.cpu).slice(0, 30)) {
    console.log(`${ms.toFixed(0).padStart(6)} ms (${own.toFixed(0)})  ${JSON.stringify(asked)}`);
  }
} finally {
  await sql.end();
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
}
