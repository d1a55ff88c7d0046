import type { Queryable } from '../../db/connect.ts';
import { lineCondition, matches, type LineFilter } from './filter.ts';
import type { StoredLine } from './line.ts';

interface Lines {
  readonly lines: StoredLine[];
  /** Where the next page begins; undefined at the end. */
  readonly next: number | undefined;
}

/** A page of a run's lines, in arrival order. The page with the latest lines has no next one. */
export async function readLines(
  sql: Queryable,
  env: number,
  run: string,
  {
    after = 0,
    limit,
    isLatest = false,
    ...filter
  }: LineFilter & { readonly after?: number; readonly limit: number; readonly isLatest?: boolean },
): Promise<Lines> {
  const lines = await sql<StoredLine[]>`
    select l.id, l.attempt, l.at, l.level, l.message, l.properties from run_logs l
     where l.env = ${env} and l.run_id = ${run} and l.id > ${after} and ${lineCondition(sql, filter)}
     order by l.id ${isLatest ? sql`desc` : sql`asc`} limit ${limit}`;
  const found = lines.filter((line) => matches(filter, line));
  if (isLatest) return { lines: found.toReversed(), next: undefined };
  return {
    lines: found,
    next: lines.length === limit ? Number(lines.at(-1)?.id) : undefined,
  };
}
