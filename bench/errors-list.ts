/**
 * Measures the list of error groups: `node bench/errors-list.ts [occurrences] [groups] [lists] [sort]`,
 * by default 50,000,000 occurrences in 100,000 groups over 90 days (errors-data.ts; 6 GB, made in five to ten minutes) and 1,000 lists of
 * random range, filter, search, order and place. Uses the PostgreSQL of DATABASE_URL (an empty database; one that this made is reused),
 * else an embedded one. Processor time is that of PostgreSQL's process and ours together.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listErrors } from '@millrace/contract';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { connect, type Database } from '../packages/server/src/db/connect.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import { listErrorGroups } from '../packages/server/src/errors/list/list.ts';
import { makeErrors } from './data/errors.ts';

const occurrences = Number(process.argv[2] ?? 50_000_000);
const groups = Number(process.argv[3] ?? 100_000);
const lists = Number(process.argv[4] ?? 1_000);
const days = 90;
const tasks = 50;
const now = new Date('2026-11-21T12:00:00Z');
const only = process.argv[5];
const dayMs = 86_400_000;

const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const postgres = process.env['DATABASE_URL'] ? undefined : await startPostgres({ dataDir: folder });
const database: Database = process.env['DATABASE_URL'] ?? (postgres?.connection as Database);
// as the server's own
const sql = connect(database, { name: 'bench', max: 1, settings: { jit: 'off' } });

let seed = 1;
const random = (): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
};
const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
const ago = (maxDays: number): number => now.getTime() - Math.floor(random() * maxDays * dayMs);

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
  'a month of the past': () => past(720),
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
  if (!built) {
    await sql`insert into organizations (id, name) values ('o', 'o')`;
    await sql`insert into projects (ref, organization_id, name) values ('proj_x', 'o', 'p')`;
    await sql`insert into environments (public_id, project_id, kind) values ('e1', 1, 'prod')`;
    await makeErrors(sql, { env: 1, occurrences, groups, tasks, days, now });
  }
  const sizes = await sql<{ name: string; rows: number; bytes: string }[]>`
    select relname as name, reltuples::float8 as rows, pg_size_pretty(pg_total_relation_size(oid)) as bytes
      from pg_class where relname in ('error_tallies', 'error_hours', 'error_days', 'error_weeks') order by 1`;
  console.log(`${occurrences} occurrences, ${groups} groups`);
  for (const { name, rows, bytes } of sizes) console.log(`${name}: ${rows} rows, ${bytes}`);
  const idsBy = async (order: string, limit: number): Promise<string[]> =>
    (await sql.unsafe<{ id: string }[]>(`select id from error_groups order by ${order} limit ${limit}`)).map(
      (row) => row.id,
    );
  const ids = await idsBy('md5(id)', 2_000);
  // The last group of each list; counted groups occur at most once in most ranges.
  const last: Readonly<Record<string, string[]>> = {
    lastSeen: await idsBy('last_seen', 100),
    firstSeen: await idsBy('first_seen', 100),
    count: await idsBy('total', 100),
  };
  const [self] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  /** Processor time of PostgreSQL's process and this one in milliseconds, which other load hardly affects. */
  const spent = (): number => {
    try {
      const { user, system } = process.cpuUsage();
      const postgresOwn = Number(readFileSync(`/proc/${self?.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
      return postgresOwn + (user + system) / 1_000;
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
    parameters: Parameters;
  }[] = [];
  const ask = async (parameters: Parameters): Promise<number> => {
    const query = listErrors.query.parse(parameters);
    const begin = performance.now();
    await listErrorGroups(sql, { env: 1, query, now });
    return performance.now() - begin;
  };
  const warming = Math.ceil(lists / 10);
  for (let n = -warming; n < lists; n++) {
    const [range, filter] = [oneOf(Object.keys(ranges)), oneOf(Object.keys(filters))];
    const sort = only ?? oneOf(['lastSeen', 'count', 'firstSeen']);
    const page = oneOf(['first', 'after', 'before', 'last']);
    const parameters = {
      ...ranges[range]?.(),
      ...filters[filter]?.(),
      sort,
      'page[size]': oneOf(['25', '25', '100']),
      ...((page === 'after' || page === 'before') && { [`page[${page}]`]: oneOf(ids) }),
      ...(page === 'last' && { 'page[after]': oneOf(last[sort] ?? []) }),
    };
    const before = spent();
    const ms = await ask(parameters);
    if (n >= 0) taken.push({ ms, cpu: spent() - before, range, filter, sort, page, parameters });
  }
  const print = (name: string, some: typeof taken): void => {
    const figures = (of: (request: (typeof taken)[number]) => number) =>
      [0.5, 0.95, 0.99].map((share) => quantile(some.map(of), share).padStart(7)).join(' ');
    console.log(
      `${name.padEnd(42)}${String(some.length).padStart(5)}  ${figures((request) => request.ms)}   ${figures((request) => request.cpu)}`,
    );
  };
  console.log(`${' '.repeat(47)}  milliseconds p50, p95, p99 passed; of processor`);
  for (const sort of new Set(taken.map((request) => request.sort))) {
    const sorted = taken.filter((request) => request.sort === sort);
    for (const by of ['page', 'range', 'filter'] as const) {
      for (const name of new Set(sorted.map((request) => request[by]))) {
        print(
          `${sort}, ${by} ${name}`,
          sorted.filter((request) => request[by] === name),
        );
      }
    }
    print(sort, sorted);
  }
  print('all', taken);
  for (const { ms, cpu: own, parameters } of taken.toSorted((a, b) => b.cpu - a.cpu).slice(0, 30)) {
    console.log(`${ms.toFixed(0).padStart(6)} ms (${own.toFixed(0)})  ${JSON.stringify(parameters)}`);
  }
} finally {
  await sql.end();
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
}
