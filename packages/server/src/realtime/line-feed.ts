import type { Queryable } from '../db/connect.ts';
import { lineCondition, matches, type LineFilter } from '../runs/logs/filter.ts';
import type { FoundLine } from '../runs/logs/search.ts';

/** Maximum lines read by one statement, and returned in one result. */
const window = 5_000;
const pageLines = 500;
/** A follower of an environment that is further behind than this skips to the newest lines. */
export const maxBehind = 20_000;
const resumeBehind = 1_000;
/** How long lines with lower ids may still appear, in milliseconds, because an id is assigned before its transaction ends. */
const lateMs = 2_000;
const maxSeen = 20_000;

export interface FollowedLines {
  readonly lines: FoundLine[];
  /** Lines before these were omitted, because the reader is slow. */
  readonly hasGap: boolean;
  /** Whether more lines can be read immediately. */
  readonly more: boolean;
}

/** Reads the lines of an environment, or of one of its runs, that come after an id: each once, in arrival order. */
export class LineFeed {
  readonly #sql: Queryable;
  readonly #env: number;
  readonly #run: string | undefined;
  readonly #filter: LineFilter;
  /** All lines up to this id were read. */
  cursor: number;
  /** Lines above it are checked again; `#seen` contains those already read. */
  #floor: number;
  #seen = new Set<number>();
  #marks: { readonly at: number; readonly cursor: number }[] = [];

  constructor(sql: Queryable, env: number, run: string | undefined, filter: LineFilter, cursor: number) {
    this.#sql = sql;
    this.#env = env;
    this.#run = run;
    this.#filter = filter;
    this.cursor = cursor;
    this.#floor = cursor;
  }

  /** With `again`, lines that appeared below the last one are read too. */
  async next(again: boolean): Promise<FollowedLines> {
    const hasGap = this.#run === undefined && (await this.#skip());
    const after = again ? this.#floor : this.cursor;
    const [env, run] = [this.#env, this.#run ?? null];
    const rows = await this.#sql<(FoundLine & { readonly last: string; readonly total: string })[]>`
      with w as (
        ${
          this.#run === undefined
            ? this.#sql`select * from run_logs x where x.env = ${env} and x.id > ${after} order by x.id limit ${window}`
            : this.#sql`select * from run_logs x where x.env = ${env} and x.run_id = ${run} and x.id > ${after} order by x.id limit ${window}`
        }
      )
      select t.last, t.total, f.*, (select r.task from runs r where r.env = ${env} and r.id = f.run_id) as task
        from (select max(id) as last, count(*) as total from w) t
        left join lateral (
          select l.id, l.run_id, l.attempt, l.at, l.level, l.message, l.properties from w l
           where ${lineCondition(this.#sql, this.#filter)}
           order by l.id limit ${pageLines}) f on true
       order by f.id`;
    const found = rows.filter(({ id }) => id !== null);
    const isCut = found.length === pageLines;
    const [first] = rows;
    const end = isCut ? found.at(-1)?.id : first?.last;
    if (end) this.cursor = Math.max(this.cursor, Number(end));
    const fresh = found.filter(({ id }) => !this.#seen.has(Number(id)));
    for (const { id } of fresh) this.#seen.add(Number(id));
    this.#forgetOld();
    return {
      lines: fresh.filter((line) => matches(this.#filter, line)),
      hasGap,
      more: isCut || Number(first?.total ?? 0) === window,
    };
  }

  /** Skips lines if the reader is far behind. */
  async #skip(): Promise<boolean> {
    const [beyond] = await this.#sql`
      select from run_logs where env = ${this.#env} and id > ${this.cursor} order by id offset ${maxBehind} limit 1`;
    if (!beyond) return false;
    const [to] = await this.#sql<{ id: string }[]>`
      select id from run_logs where env = ${this.#env} order by id desc offset ${resumeBehind} limit 1`;
    if (to) this.cursor = Math.max(this.cursor, Number(to.id));
    this.#floor = this.cursor;
    this.#seen.clear();
    this.#marks = [];
    return true;
  }

  #forgetOld(): void {
    const now = performance.now();
    this.#marks.push({ at: now, cursor: this.cursor });
    let floor = this.#floor;
    while (this.#marks[0] && this.#marks[0].at < now - lateMs) floor = this.#marks.shift()?.cursor ?? floor;
    if (this.#seen.size > maxSeen) floor = this.cursor;
    if (floor === this.#floor) return;
    this.#floor = floor;
    for (const id of this.#seen) if (id <= floor) this.#seen.delete(id);
  }
}
