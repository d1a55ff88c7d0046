import type { RunStatus, RunStep, StepKind, TimelineEntry } from '@millrace/contract';
import type { Fragment, Queryable } from '../../db/connect.ts';
import { readAttemptRows, type AttemptRow } from '../attempts/rows.ts';
import type { RunStart } from '../attempts/compose.ts';
import { liveStatus, whereabouts } from '../retrieve/retrieve.ts';
import { readSpansOf, type SpansOfRun } from '../spans/read-many.ts';
import { groupBy } from '../values/group-by.ts';

export interface TimelineRun extends RunStart {
  readonly id: string;
  readonly parent_id: string | null;
  readonly task: string;
  readonly status: RunStatus;
  readonly version: string | null;
  readonly queue: string;
  readonly concurrency_key: string | null;
  readonly batch_id: string | null;
  readonly tags: string[] | null;
  readonly attempt: number;
  readonly finished_at: Date | null;
}

/** A run in its tree. */
export interface TreeRun extends TimelineRun {
  /** Whether it has child runs that are not in the tree. */
  hasMore: boolean;
}

interface TreePage {
  /** Levels of child runs. */
  readonly depth: number;
  /** Maximum child runs of all levels together. */
  readonly size: number;
  /** Only children of the first run that come after this one. */
  readonly after: string | undefined;
}

/** Maximum children of a child run; the others are in that run's own timeline. */
const maxInnerChildren = 20;

const columns = (sql: Queryable): Fragment => sql`
  f.id, f.parent_id, f.task, coalesce(v.version, lv.version) as version, q.name as queue, f.concurrency_key, f.batch_id, f.tags,
  coalesce(l.attempt, u.attempt, f.attempt) as attempt, f.created_at, f.delayed_until, f.finished_at, f.batch_id is not null as batch,
  (select b.sealed_at from batches b where b.env = f.env and b.id = f.batch_id) as sealed_at, ${liveStatus(sql)} as status`;

/**
 * A run and its descendants, level by level. The children of the run are in id order. For a child run, some of its children are included in
 * no particular order, because it may have very many, and sorting would require reading all of them.
 */
export async function readTree(
  sql: Queryable,
  env: number,
  id: string,
  { depth, size, after }: TreePage,
): Promise<TreeRun[]> {
  const first = await sql<TimelineRun[]>`
    select ${columns(sql)} from runs f join queues q on q.id = f.queue_id ${whereabouts(sql)} where f.env = ${env} and f.id = ${id}`;
  const tree = first.map((run) => ({ ...run, hasMore: false }));
  let parents = tree;
  for (let level = 1; parents.length > 0; level++) {
    const left = level > depth ? 0 : size + 1 - tree.length;
    // One more than the remaining space, to detect whether there are more.
    const each = Math.min(left, level === 1 ? size : maxInnerChildren) + 1;
    const ids = parents.map((run) => run.id);
    const found = await sql<TimelineRun[]>`
      select ${columns(sql)}
        from unnest(${ids}::text[]) with ordinality as parent (id, ix)
        cross join lateral (
          ${level === 1 ? childrenInOrder(sql, env, after ?? '', each) : someChildren(sql, env, each)}
        ) c
        cross join lateral (select r.* from runs r where r.env = ${env} and r.id = c.id limit 1) f
        join queues q on q.id = f.queue_id ${whereabouts(sql)}
       order by parent.ix, f.id`;
    const of = groupBy(found, (run) => run.parent_id);
    const next: TreeRun[] = [];
    for (const parent of parents) {
      const children = of.get(parent.id) ?? [];
      const room = Math.min(each - 1, left - next.length);
      parent.hasMore = children.length > room;
      for (const child of children.slice(0, Math.max(0, room))) next.push({ ...child, hasMore: false });
    }
    tree.push(...next);
    parents = next;
  }
  return tree;
}

// Both read through the index of parents: `offset 0` prevents the planner from reading all runs in id order instead.
const childrenInOrder = (sql: Queryable, env: number, after: string, limit: number): Fragment => sql`
  select o.id from (select r.id from runs r where r.env = ${env} and r.parent_id = parent.id offset 0) o
   where o.id > ${after} order by o.id limit ${limit}`;
const someChildren = (sql: Queryable, env: number, limit: number): Fragment => sql`
  select r.id from runs r where r.env = ${env} and r.parent_id = parent.id limit ${limit}`;

export interface WaitRow {
  readonly run_id: string;
  readonly attempt: number;
  readonly key: string;
  readonly kind: 'RUN' | 'BATCH' | 'TIME' | 'TOKEN' | 'MESSAGE';
  readonly target: string | null;
  readonly due: Date | null;
  readonly created_at: Date;
  readonly over_at: Date | null;
  readonly target_status: RunStatus | null;
  readonly timed_out: boolean | null;
}

export interface LineRow {
  readonly run_id: string;
  readonly id: string;
  readonly attempt: number;
  readonly at: Date;
  readonly level: Extract<TimelineEntry, { kind: 'log' }>['level'];
  readonly message: string;
}

export interface StepRow {
  readonly run_id: string;
  readonly name: string;
  readonly kind: StepKind;
  readonly status: RunStep['status'];
  readonly attempt: number;
  readonly tries: number;
  readonly started_at: Date;
  readonly ended_at: Date;
  readonly detail: string | null;
  readonly error: AttemptRow['error'];
  readonly taken_from: string | null;
}

export interface BatchRow {
  readonly id: string;
  readonly parent_run_id: string | null;
  readonly run_count: number;
  readonly created_at: Date;
}

/** The events of some runs. Each kind has one more than the maximum, if there are more. */
export interface Happened {
  readonly attempts: readonly AttemptRow[];
  readonly waits: readonly WaitRow[];
  readonly lines: readonly LineRow[];
  readonly batches: readonly BatchRow[];
  readonly steps: readonly StepRow[];
  readonly spans: ReadonlyMap<string, SpansOfRun>;
}

/** The last attempts of each run. */
export const maxAttempts = 50;
export const maxWaits = 100;
export const maxStepsShown = 200;
const maxMessage = 500;

export async function readHappened(
  sql: Queryable,
  env: number,
  runs: readonly { readonly id: string; readonly lines: number; readonly spans: number }[],
  batches: readonly string[],
  at: Date,
): Promise<Happened> {
  const ids = runs.map((run) => run.id);
  const logged = runs.filter((run) => run.lines > 0);
  return {
    attempts: await readAttemptRows(sql, env, ids, at, { limit: maxAttempts + 1, last: true }),
    waits: await sql<WaitRow[]>`
      select w.run_id, w.attempt, w.key, w.kind, w.target, w.due, w.created_at, w.over_at,
             case when w.kind = 'RUN' then (select r.status from runs r where r.env = w.env and r.id = w.target) end as target_status,
             case when w.kind = 'TOKEN' then (select p.status = 'TIMED_OUT' from waitpoints p where p.env = w.env and p.id = w.target)
             end as timed_out
        from unnest(${ids}::text[]) as i (run_id)
        cross join lateral (
          select x.* from waits x where x.env = ${env} and x.run_id = i.run_id order by x.attempt desc, x.key desc limit ${maxWaits + 1}) w`,
    lines:
      logged.length === 0
        ? []
        : await sql<LineRow[]>`
            select i.run_id, l.id, l.attempt, l.at, l.level, left(l.message, ${maxMessage}) as message
              from unnest(${logged.map((run) => run.id)}::text[], ${logged.map((run) => run.lines)}::int[])
                     with ordinality as i (run_id, lines, ix)
              cross join lateral (
                select x.* from run_logs x where x.env = ${env} and x.run_id = i.run_id order by x.id desc limit i.lines + 1) l
             order by i.ix, l.id`,
    spans: await readSpansOf(
      sql,
      env,
      runs.map(({ id, spans }) => ({ id, limit: spans })),
    ),
    steps: await sql<StepRow[]>`
      select s.run_id, s.name, s.kind, s.status, s.attempt, s.tries, s.started_at, s.ended_at, s.detail, short_error(s.error) as error,
             s.taken_from
        from unnest(${ids}::text[]) as i (run_id)
        cross join lateral (
          select x.* from run_steps x where x.env = ${env} and x.run_id = i.run_id
           order by x.seq desc, x.name desc limit ${maxStepsShown + 1}) s`,
    batches:
      batches.length === 0
        ? []
        : await sql<BatchRow[]>`
            select id, parent_run_id, run_count, created_at from batches where env = ${env} and id = any(${[...batches]}::text[])`,
  };
}
