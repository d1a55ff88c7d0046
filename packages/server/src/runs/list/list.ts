import type { EnvironmentKind, Operations, Reply, RunListItem } from '@millrace/contract';
import { environmentSlug } from '../../auth/slug.ts';
import type { Fragment, Queryable } from '../../db/connect.ts';
import { related, relatedColumns, whereabouts, type RelatedRow } from '../retrieve/retrieve.ts';
import type { RunFilter } from './filter.ts';
import { findRuns, type Found } from './find.ts';
import { readFilter, type ListRunsQuery } from './read-filter.ts';
import { cursorOf, idAt } from './position.ts';

export interface RunList {
  readonly envs: readonly number[];
  readonly query: ListRunsQuery;
  /** Current time in milliseconds. */
  readonly now: number;
}

/**
 * Reads a page with runs, newest first, in id order, because ids begin with the creation time. `before` overrides `after`. Without a time
 * range, the runs of the last seven days. A page may have fewer runs than requested, even none, and still have a `next`, because filters
 * that rarely overlap are searched over a limited distance at a time.
 */
export async function listRuns(
  sql: Queryable,
  { envs, query, now }: RunList,
): Promise<Reply<Operations['listRuns']>> {
  const size = query['page[size]'];
  const before = cursorOf(query['page[before]'], 'page[before]');
  const after = before === undefined ? cursorOf(query['page[after]'], 'page[after]') : undefined;
  const filter = await readFilter(sql, envs, query, now);
  if (filter === undefined) return { data: [], pagination: {} };

  const backward = before !== undefined;
  const ends = rangeEnds(filter);
  const { runs, edge } = await findRuns(sql, filter, {
    // Longer than an id: sorts after it, and before every other id.
    low: max(ends.low, before && `${before}0`),
    high: min(ends.high, after),
    backward,
    limit: size + 1,
  });
  const page = runs.slice(0, size);
  if (backward) page.reverse();
  const more = runs.length > size;
  const beforeFirst = backward ? more : after !== undefined;
  const afterLast = backward || more;
  const onward = edge && beyond(edge, backward);
  const next = (!backward && onward) || (afterLast ? page.at(-1)?.id : undefined);
  const previous = (backward && onward) || (beforeFirst ? page[0]?.id : undefined);
  return {
    data: await readItems(sql, page, query.errors === 'true'),
    pagination: { ...(next && { next }), ...(previous && { previous }) },
  };
}

/** The cursor that continues after a span; longer than an id if it must sort after the whole span. */
const beyond = (span: string, backward: boolean): string => (backward ? span.padEnd(60, 'z') : span);

/** The maximum delay between reading a trigger, which assigns the id, and writing it, which sets `createdAt`. */
const slackMs = 10_000;

/** The first and last ids of a time range. */
export const rangeEnds = ({ from, to }: Pick<RunFilter, 'from' | 'to'>) => ({
  low: from === undefined ? '' : idAt(from.getTime() - slackMs),
  high: to === undefined ? '~' : idAt(to.getTime() + 1),
});

const max = (first: string, second: string | undefined) =>
  second !== undefined && second > first ? second : first;
const min = (first: string, second: string | undefined) =>
  second !== undefined && second < first ? second : first;

interface ItemRow extends RelatedRow {
  readonly public_id: string;
  readonly kind: EnvironmentKind;
  readonly branch: string | null;
  readonly error_name?: string | null;
  readonly error_line?: string | null;
}

/** The type of the error and the first line of its message. */
const errorColumns = (sql: Queryable): Fragment => sql`
  , f.error->>'name' as error_name, left(split_part(f.error->>'message', E'\n', 1), 300) as error_line`;

async function readItems(
  sql: Queryable,
  found: readonly Found[],
  hasErrors: boolean,
): Promise<RunListItem[]> {
  if (found.length === 0) return [];
  const rows = await sql<ItemRow[]>`
    select ${relatedColumns(sql)}, e.public_id, e.kind, e.branch ${hasErrors ? errorColumns(sql) : sql``}
      from unnest(${found.map((run) => run.env)}::int[], ${found.map((run) => run.id)}::text[]) as i (env, id)
      join runs f on f.env = i.env and f.id = i.id
      join environments e on e.id = f.env ${whereabouts(sql)}
     order by f.id desc`;
  return rows.map((row) => {
    const { triggerFunction: _, batchId: __, ...fields } = related(row);
    const { error_name: name, error_line: message } = row;
    return {
      ...fields,
      env: { id: row.public_id, name: environmentSlug(row.kind, row.branch) },
      ...(message != null && { error: { ...(name != null && { name }), message } }),
    };
  });
}
