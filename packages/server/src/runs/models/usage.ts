import type { ModelDivision, ModelUsage, UsageOfModel } from '@millrace/contract';
import type { Fragment, Queryable } from '../../db/connect.ts';

interface UsageRow {
  readonly calls: number;
  readonly unpriced: number;
  readonly input: number;
  readonly cached: number;
  readonly cache_write: number;
  readonly output: number;
  readonly cost: string;
}

interface ModelRow extends UsageRow {
  readonly provider: string;
  readonly model: string;
}

export interface UsageFilter {
  /** The beginning of the first UTC day, and the end of the last one. */
  readonly from: Date;
  readonly to: Date;
  readonly task?: string | undefined;
  readonly tag?: string | undefined;
  readonly model?: string | undefined;
}

const usageOf = (row: UsageRow): ModelUsage => ({
  calls: row.calls,
  unpricedCalls: row.unpriced,
  inputTokens: row.input,
  cachedInputTokens: row.cached,
  cacheWriteTokens: row.cache_write,
  outputTokens: row.output,
  cost: row.cost,
});

const usageOfModel = (row: ModelRow): UsageOfModel => ({
  provider: row.provider,
  model: row.model,
  ...usageOf(row),
});

const noUsage: ModelUsage = usageOf({
  calls: 0,
  unpriced: 0,
  input: 0,
  cached: 0,
  cache_write: 0,
  output: 0,
  cost: '0',
});

/** The sums over rows `u`. Costs are stored in 10^-12 dollars. */
const sums = (sql: Queryable): Fragment => sql`
  coalesce(sum(u.calls), 0)::float8 as calls, coalesce(sum(u.unpriced_calls), 0)::float8 as unpriced,
  coalesce(sum(u.input_tokens), 0)::float8 as input, coalesce(sum(u.cached_tokens), 0)::float8 as cached,
  coalesce(sum(u.cache_write_tokens), 0)::float8 as cache_write, coalesce(sum(u.output_tokens), 0)::float8 as output,
  trim_scale(coalesce(sum(u.cost), 0) * 0.000000000001)::text as cost`;

/** The columns of a call `c`, as in `model_days`. */
const callColumns = (sql: Queryable): Fragment => sql`
  1 as calls, (c.cost is null)::int as unpriced_calls, c.provider, c.model, c.input_tokens, c.cached_tokens, c.cache_write_tokens,
  c.output_tokens, c.cost`;

/** The usage of a run, in total and by model. */
export async function readRunUsage(
  sql: Queryable,
  env: number,
  run: string,
): Promise<{ total: ModelUsage; models: UsageOfModel[] }> {
  const rows = await sql<(ModelRow & { is_total: boolean })[]>`
    select grouping(u.model) = 1 as is_total, u.provider, u.model, ${sums(sql)}
      from (select ${callColumns(sql)} from model_calls c where c.env = ${env} and c.run_id = ${run}) u
     group by grouping sets ((), (u.provider, u.model))
     order by 1, sum(u.cost) desc nulls last, sum(u.calls) desc, u.provider, u.model`;
  return {
    total: usageOf(rows.at(-1) as ModelRow),
    models: rows.filter((row) => !row.is_total).map(usageOfModel),
  };
}

/**
 * The calls of an environment in some days. Without tags they are read from the roll-ups. Tags are those of runs, so they are read from the
 * calls of the runs that still exist.
 */
function sourceOf(
  sql: Queryable,
  env: number,
  { from, to, task, tag, model }: UsageFilter,
  byTag = false,
): Fragment {
  const filters = sql`
    ${task === undefined ? sql`` : sql`and s.task = ${task}`} ${model === undefined ? sql`` : sql`and s.model = ${model}`}`;
  if (tag === undefined && !byTag) {
    return sql`(
      select s.*, s.at as day from model_days s where s.env = ${env} and s.at >= ${from} and s.at < ${to} ${filters})`;
  }
  return sql`(
    select s.* from (
      select ${callColumns(sql)}, r.task, date_trunc('day', c.at, 'UTC') as day ${byTag ? sql`, g.tag` : sql``}
        from model_calls c join runs r on r.env = c.env and r.id = c.run_id
        ${byTag ? sql`cross join lateral (select distinct x as tag from unnest(r.tags) as x) g` : sql``}
       where c.env = ${env} and c.at >= ${from} and c.at < ${to}
         ${tag === undefined ? sql`` : sql`and ${tag} = any(r.tags)`}) s
     where true ${filters})`;
}

/** The usage of an environment: in total, by UTC day, and the models without a price. */
export async function readUsage(sql: Queryable, env: number, filter: UsageFilter) {
  const rows = await sql<(ModelRow & { kind: 'total' | 'day' | 'model'; day: Date | null })[]>`
    select case when grouping(u.day) = 0 then 'day' when grouping(u.model) = 0 then 'model' else 'total' end as kind,
           u.day, u.provider, u.model, ${sums(sql)}
      from ${sourceOf(sql, env, filter)} u
     group by grouping sets ((), (u.day), (u.provider, u.model))
     order by u.day, sum(u.unpriced_calls) desc, u.provider, u.model`;
  const days = new Map(rows.flatMap((row) => (row.day ? [[row.day.getTime(), usageOf(row)]] : [])));
  const points: (ModelUsage & { at: string })[] = [];
  for (let at = filter.from.getTime(); at < filter.to.getTime(); at += dayMs)
    points.push({ at: new Date(at).toISOString(), ...(days.get(at) ?? noUsage) });
  const total = rows.find(({ kind }) => kind === 'total');
  return {
    total: total ? usageOf(total) : noUsage,
    days: points,
    unpriced: rows
      .filter(({ kind, unpriced }) => kind === 'model' && unpriced > 0)
      .slice(0, maxUnpriced)
      .map(usageOfModel),
  };
}

export const dayMs = 86_400_000;
/** How long roll-ups are retained. */
export const modelRetentionDays = 730;
const maxUnpriced = 100;

/** The most expensive tasks, models or tags. */
export async function readUsageBy(
  sql: Queryable,
  env: number,
  filter: UsageFilter,
  by: ModelDivision,
  limit: number,
): Promise<(ModelUsage & { name: string })[]> {
  const name = { task: sql`u.task`, model: sql`u.model`, tag: sql`u.tag` }[by];
  const rows = await sql<(UsageRow & { name: string })[]>`
    select ${name} as name, ${sums(sql)} from ${sourceOf(sql, env, filter, by === 'tag')} u
     group by 1 order by sum(u.cost) desc nulls last, sum(u.calls) desc, 1 limit ${limit}`;
  return rows.map((row) => ({ name: row.name, ...usageOf(row) }));
}
