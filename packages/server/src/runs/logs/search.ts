import type { Queryable } from '../../db/connect.ts';
import { bitsOf, lineCondition, matches, type LineFilter } from './filter.ts';
import type { StoredLine } from './line.ts';

/** A line with its run and task. */
export interface FoundLine extends StoredLine {
  readonly run_id: string;
  readonly task: string | null;
}

interface Page {
  readonly lines: FoundLine[];
  /** The search continues below this id; undefined at the end. */
  readonly next: number | undefined;
}

/** The time after which the lines found so far are returned, in milliseconds. */
const pageMs = 150;
/** Ids of lines without a block that one statement reads; more where lines are sparse. */
const firstWindow = 8_192;
const maxWindow = 4_194_304;
/** Blocks that one statement requests. */
const blocksAtOnce = 16;

interface Range {
  readonly first: number;
  readonly last: number;
}

/** Matching lines of an environment, newest first, below the id `below`. */
export async function searchLines(
  sql: Queryable,
  env: number,
  filter: LineFilter,
  { below, limit }: { readonly below?: number | undefined; readonly limit: number },
): Promise<Page> {
  const deadline = performance.now() + pageMs;
  const lines: FoundLine[] = [];
  const [ends] = await sql<{ oldest: string | null; newest: string | null; block: string | null }[]>`
    select (select id from run_logs where env = ${env} order by id limit 1) as oldest,
           (select id from run_logs where env = ${env} order by id desc limit 1) as newest,
           (select last_id from log_blocks where env = ${env} order by last_id desc limit 1) as block`;
  if (!ends?.oldest || !ends.newest) return { lines, next: undefined };
  const oldest = Number(ends.oldest);
  const lastBlock = Number(ends.block ?? 0);
  let end = Math.min(Number(ends.newest), (below ?? Number.POSITIVE_INFINITY) - 1);
  let window = firstWindow;

  /** Reads a range; true if the page is full. Everything above `end` has been searched. */
  const read = async ({ first, last }: Range): Promise<boolean> => {
    const remaining = limit - lines.length;
    const found = await readRange(sql, env, filter, { first, last }, remaining);
    lines.push(...found.filter((line) => matches(filter, line)));
    // A full result ends within the range.
    end = found.length === remaining ? Number(found.at(-1)?.id) - 1 : first - 1;
    return lines.length >= limit;
  };
  const page = (): Page => ({ lines, next: end >= oldest ? end + 1 : undefined });

  // Lines too new for a block.
  const tail = Math.max(oldest, lastBlock + 1);
  while (end >= tail) {
    const began = performance.now();
    if (await read({ first: Math.max(tail, end - window + 1), last: end })) return page();
    if (performance.now() > deadline) return page();
    if (performance.now() - began < pageMs / 10) window = Math.min(maxWindow, window * 2);
  }
  while (end >= oldest) {
    const blocks = await nextBlocks(sql, env, filter, end);
    if (blocks.length === 0) {
      end = oldest - 1;
      break;
    }
    for (const { first, last } of blocks) {
      // A range is read again if its result was cut off before anything matched.
      do {
        if (await read({ first, last: Math.min(last, end) })) return page();
        if (performance.now() > deadline) return page();
      } while (end >= first);
    }
  }
  return page();
}

const readRange = (
  sql: Queryable,
  env: number,
  filter: LineFilter,
  { first, last }: Range,
  limit: number,
): Promise<FoundLine[]> =>
  sql<FoundLine[]>`
    select f.*, (select r.task from runs r where r.env = ${env} and r.id = f.run_id) as task
      from (select l.id, l.run_id, l.attempt, l.at, l.level, l.message, l.properties
              from run_logs l
             where l.env = ${env} and l.id between ${first} and ${last} and ${lineCondition(sql, filter)}
             order by l.id desc limit ${limit}) f
     order by f.id desc`;

/** The next blocks that may have a matching line, newest first. */
async function nextBlocks(sql: Queryable, env: number, filter: LineFilter, end: number): Promise<Range[]> {
  const { all, tasks = null, levels = null } = bitsOf(filter);
  const rows = await sql<{ first_id: string; last_id: string }[]>`
    select b.first_id, b.last_id from log_blocks b
     -- read once, not for each bit
     cross join lateral (select b.terms || ''::bytea as terms offset 0) t
     where b.env = ${env} and b.first_id <= ${end}
       and (${filter.from ?? null}::timestamptz is null or b.at_to >= ${filter.from ?? null}::timestamptz)
       and (${filter.to ?? null}::timestamptz is null or b.at_from <= ${filter.to ?? null}::timestamptz)
       and (select bool_and(get_bit(t.terms, bit) = 1) from unnest(${all}::int[]) bit) is not false
       and (${tasks}::int[] is null or (select bool_or(get_bit(t.terms, bit) = 1) from unnest(${tasks}::int[]) bit))
       and (${levels}::int[] is null or (select bool_or(get_bit(t.terms, bit) = 1) from unnest(${levels}::int[]) bit))
     order by b.last_id desc limit ${blocksAtOnce}`;
  return rows.map(({ first_id, last_id }) => ({ first: Number(first_id), last: Number(last_id) }));
}
