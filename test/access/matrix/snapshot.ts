import type { Sql } from '../../../packages/server/src/db/connect.ts';

/** Tables that change with time alone. */
const noise = new Set([
  'runners',
  'lease_watch',
  'migrations',
  'session_scan',
  'run_stats',
  'run_stat_arrivals',
  'run_stat_flushes',
  'fleet_sample',
]);
/** Columns that change with time or use: no client receives the requests of the matrix to its endpoints. */
const noisyColumns: Readonly<Record<string, readonly string[]>> = {
  secret_keys: ['last_used_at'],
  personal_access_tokens: ['last_used_at'],
  browser_sessions: ['last_used_at'],
  notification_endpoints: ['failing_since', 'failed_at', 'failing_for'],
  alerts: ['next_at'],
  run_paths: ['backfilled_from', 'backfilled_at'],
  runner_names: ['last_seen_at'],
  notification_deliveries: ['due', 'attempts', 'attempted_at', 'response_status', 'failure'],
};

/** The rows to compare: all, or those of these environments, projects and organizations. */
export interface Part {
  readonly environments: readonly number[];
  readonly projects: readonly number[];
  readonly organizations: readonly string[];
}

/** The content of every table, as a digest of its rows. */
export async function snapshot(sql: Sql, part?: Part): Promise<Map<string, string>> {
  const tables = await sql<{ name: string; columns: string[] }[]>`
    select c.relname as name, array_agg(a.attname::text) as columns
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relkind in ('r', 'p') and n.nspname = 'public' and not c.relispartition
     group by 1 order by 1`;
  const found = new Map<string, string>();
  for (const { name, columns } of tables) {
    const whose = part ? ownedBy(part, columns) : 'true';
    if (noise.has(name) || whose === undefined) continue;
    const [row] = await sql.unsafe<{ digest: string }[]>(`
      select coalesce(md5(string_agg(line, '' order by line)), '') as digest
        from (select md5((to_jsonb(t) - array[${list(noisyColumns[name] ?? [])}]::text[])::text) as line from "${name}" t where ${whose}) s`);
    found.set(name, row?.digest ?? '');
  }
  return found;
}

const list = (values: readonly (string | number)[]): string =>
  values.map((value) => (typeof value === 'number' ? value : `'${value}'`)).join();

function ownedBy(part: Part, columns: readonly string[]): string | undefined {
  const by: readonly (readonly [string, readonly (string | number)[]])[] = [
    ['env', part.environments],
    ['environment_id', part.environments],
    ['project_id', part.projects],
    ['organization_id', part.organizations],
  ];
  const [column, values] = by.find(([name]) => columns.includes(name)) ?? [];
  return column && values && `${column} in (${list(values)})`;
}

/** Names of tables whose content has changed. */
export const changed = (before: Map<string, string>, after: Map<string, string>): string[] =>
  [...after].filter(([name, digest]) => before.get(name) !== digest).map(([name]) => name);
