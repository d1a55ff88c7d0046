import type { Fragment, Queryable } from '../../db/connect.ts';
import { passes, type RunFilter } from './filter.ts';
import { sourcesOf, type Source } from './sources.ts';

export interface Found {
  readonly env: number;
  readonly id: string;
}

/** A section of the run order: ids from `low` (inclusive) to `high` (exclusive). */
export interface Section {
  readonly low: string;
  readonly high: string;
  /** If true, searches upward from `low`; otherwise downward from `high`. */
  readonly backward: boolean;
  readonly limit: number;
}

/** The nearest matching runs, in order. There may be fewer than requested, with an `edge` to continue from. */
export interface Finding {
  readonly runs: readonly Found[];
  /** The span at which the search ended: runs beyond it were not read. */
  readonly edge: string | undefined;
}

/** Maximum rows of a source that are counted to compare sources. Counting this many takes a few milliseconds. */
const maxWeight = 30_000;
const firstSpans = 40;
const maxSpans = 5_000;
/** Limits of one search: spans whose runs are read, and spans of the index that are scanned. */
const maxRead = 1_300;
const maxScanned = 12_000;

/**
 * The nearest runs that match the filter, in order. It scans the source with the fewest rows, and skips spans in which another source has
 * none. The cost of a page therefore depends on how far apart its runs are, not on how many runs exist. Common filters that rarely overlap
 * would read everything, so such a search ends at an edge.
 */
export async function findRuns(sql: Queryable, filter: RunFilter, section: Section): Promise<Finding> {
  const search: Search = { sql, envs: filter.envs, section, matches: passes(sql, filter) };
  const sources = await sourcesOf(sql, filter);
  const leading = await smallest(search, sources);
  if (!leading) {
    return { runs: await inTable(search, sql`(select r.env, r.id as run_id from runs r)`), edge: undefined };
  }
  const found: Found[] = [];
  let edge: string | undefined;
  for (const table of leading.tables) found.push(...(await inTable(search, table)));
  if (leading.facets.length > 0) {
    const others = sources.filter((source) => source !== leading && source.isComplete);
    const searched = await inSpans(search, leading.facets, others);
    found.push(...searched.runs);
    edge = searched.edge;
  }
  const byId = new Map(found.filter(({ id }) => within(edge, section, id)).map((run) => [run.id, run]));
  const sorted = [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const runs = (section.backward ? sorted : sorted.toReversed()).slice(0, section.limit);
  return { runs, edge: runs.length < section.limit ? edge : undefined };
}

/** Whether a run is within the edge of the search. */
const within = (edge: string | undefined, { backward }: Section, id: string): boolean =>
  edge === undefined || (backward ? spanOf(id) <= edge : spanOf(id) >= edge);

interface Search {
  readonly sql: Queryable;
  readonly envs: readonly number[];
  readonly section: Section;
  /** The condition that a run `r` must meet. */
  readonly matches: Fragment;
}

const order = ({ sql, section }: Search): Fragment => (section.backward ? sql`asc` : sql`desc`);

/** The first ten characters of an id. */
const spanOf = (id: string): string => id.slice(0, 10);

async function smallest(search: Search, sources: readonly Source[]): Promise<Source | undefined> {
  if (sources.length <= 1) return sources[0];
  const { sql, envs, section } = search;
  const sizes = sources.map(({ facets, tables }, index) => {
    let rows = sql`
      select from unnest(${envs}::int[]) as e (env)
        cross join unnest(${facets}::text[]) as f (facet)
        cross join lateral (
          select from run_facets x where x.env = e.env and x.facet = f.facet
             and x.span >= ${spanOf(section.low)} and x.span <= ${spanOf(section.high)} limit ${maxWeight}) x`;
    for (const table of tables) {
      rows = sql`${rows} union all (select from ${table} q where q.env = any(${envs}::int[]) limit ${maxWeight})`;
    }
    return sql`select ${index}::int as index, (select count(*) from (select from (${rows}) r limit ${maxWeight}) r) as size`;
  });
  const [first] = await sql<{ index: number }[]>`
    select s.index from (${sizes.reduce((all, size) => sql`${all} union all ${size}`)}) s order by s.size, s.index limit 1`;
  return sources[first?.index ?? 0];
}

/** Runs from a table that is in run order, or small enough to be sorted. */
function inTable(search: Search, table: Fragment): Promise<Found[]> {
  const { sql, envs, section, matches } = search;
  return sql<Found[]>`
    select r.env, r.id
      from unnest(${envs}::int[]) as e (env)
      cross join lateral (
        select r.env, r.id
          -- ordered before the join, because a page needs few of them
          from (select q.env, q.run_id from ${table} q
                 where q.env = e.env and q.run_id >= ${section.low} and q.run_id < ${section.high}
                 order by q.run_id ${order(search)}) q
          join runs r on r.env = q.env and r.id = q.run_id
         where ${matches}
         order by q.run_id ${order(search)} limit ${section.limit}) r
     order by r.id ${order(search)} limit ${section.limit}`;
}

/** Scans the spans of the facets: a few at first, and more while they have too few runs. */
async function inSpans(
  search: Search,
  facets: readonly string[],
  others: readonly Source[],
): Promise<Finding> {
  const { section } = search;
  const found: Found[] = [];
  let [low, high] = [spanOf(section.low), `${spanOf(section.high)}~`];
  let scannedSoFar = 0;
  let readSoFar = 0;
  for (let limit = firstSpans; ; limit = Math.min(maxSpans, limit * 4)) {
    const { scanned, read, edge, runs } = await scanSpans(search, facets, others, { low, high, limit });
    found.push(...runs);
    if (edge === null || scanned < limit || found.length >= section.limit) {
      return { runs: found.slice(0, section.limit), edge: undefined };
    }
    scannedSoFar += scanned;
    readSoFar += read;
    if (scannedSoFar >= maxScanned || readSoFar >= maxRead) return { runs: found, edge };
    if (section.backward) low = `${edge}~`;
    else high = edge;
  }
}

async function scanSpans(
  search: Search,
  facets: readonly string[],
  others: readonly Source[],
  { low, high, limit }: { readonly low: string; readonly high: string; readonly limit: number },
): Promise<{ scanned: number; read: number; edge: string | null; runs: Found[] }> {
  const { sql, envs, section, matches } = search;
  let hasOthers = sql`true`;
  for (const other of others) {
    // Not `exists`: PostgreSQL would turn it into a join, and read the whole facet for the few requested spans.
    hasOthers = sql`${hasOthers} and (
      select true from run_facets o where o.env = x.env and o.facet = any(${other.facets}::text[]) and o.span = x.span limit 1)`;
  }
  const rows = await sql<(Found & { scanned: number; read: number; edge: string | null })[]>`
    with scanned as materialized (
      select distinct s.env, s.span
        from unnest(${envs}::int[]) as e (env)
        cross join unnest(${facets}::text[]) as f (facet)
        cross join lateral (
          select x.env, x.span from run_facets x
           where x.env = e.env and x.facet = f.facet and x.span >= ${low} and x.span < ${high}
           order by x.span ${order(search)} limit ${limit}) s
       order by s.span ${order(search)} fetch first (${limit}::int) rows with ties
    ), spans as materialized (
      select x.env, x.span from scanned x where ${hasOthers}
    )
    select found.*, r.env, r.id
      from (select count(*)::int as scanned, (select count(*)::int from spans) as read,
                   ${section.backward ? sql`max(span)` : sql`min(span)`} as edge from scanned) found
      left join lateral (
        select r.env, r.id from spans s
         cross join lateral (
           select r.env, r.id from runs r
            where r.env = s.env and r.id >= greatest(s.span, ${section.low}) and r.id < least(s.span || '~', ${section.high})
              and ${matches}
            order by r.id ${order(search)} limit ${section.limit}) r
         order by r.id ${order(search)} limit ${section.limit}) r on true
     order by r.id ${order(search)}`;
  return {
    scanned: rows[0]?.scanned ?? 0,
    read: rows[0]?.read ?? 0,
    edge: rows[0]?.edge ?? null,
    runs: rows.filter((row) => row.id !== null).map(({ env, id }) => ({ env, id })),
  };
}
