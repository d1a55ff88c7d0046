import type { Queryable } from '../db/connect.ts';
import { facet } from '../runs/facets/facet.ts';
import { idAt } from '../runs/list/position.ts';
import type { RunSnapshot } from './run-snapshot.ts';

/** Defines a set of runs. */
export interface Subject {
  readonly env: number;
  /** Equal for subjects with the same runs. */
  readonly key: string;
  readonly tags: readonly string[] | undefined;
  belongs(run: RunSnapshot): boolean;
  /** Its runs, ordered by id. */
  ids(sql: Queryable, page: PageOfIds): Promise<Member[]>;
  /** Whether no more runs can be added. */
  isComplete(sql: Queryable): Promise<boolean>;
}

export interface PageOfIds {
  /** Only ids after this one. */
  readonly after: string;
  /** Only unfinished runs, or those that ended at or after this time. */
  readonly aliveSince?: Date;
  readonly limit: number;
}

export interface Member {
  readonly id: string;
  readonly bytes: number;
}

/** The ids of a batch's runs contain the time it was opened, up to this long before the runs were created. */
const idLeewayMs = 3_600_000;

/** Runs that have all of the tags, belong to one of these tasks if any are named, and were created at or after `from`. */
export function taggedRuns(
  env: number,
  tags: readonly string[],
  tasks: readonly string[],
  from: number,
): Subject {
  const since = new Date(from);
  const lowest = idAt(from - idLeewayMs);
  return {
    env,
    key: JSON.stringify([env, tags.toSorted(), tasks.toSorted(), from]),
    tags,
    belongs: (run) =>
      run.created_at >= since &&
      tags.every((tag) => run.tags?.includes(tag)) &&
      (tasks.length === 0 || tasks.includes(run.task)),
    ids(sql, { after, aliveSince, limit }) {
      const low = after > lowest ? after : lowest;
      return sql<(Member & { readonly id: string })[]>`
        select r.id, r.bytes
          from run_facets x
          cross join lateral (
            select r.id, (coalesce(octet_length(r.payload), 0) + coalesce(octet_length(r.output), 0)
                          + coalesce(octet_length(r.metadata), 0))::int as bytes
              from runs r
             where r.env = x.env and r.id >= x.span and r.id < x.span || '~' and r.id > ${low}
               and r.tags @> ${tags}::text[] and r.created_at >= ${since}
               and (cardinality(${tasks}::text[]) = 0 or r.task = any(${tasks}::text[]))
               and (${aliveSince ?? null}::timestamptz is null or r.status is null or r.finished_at >= ${aliveSince ?? null})
             order by r.id limit ${limit}) r
         where x.env = ${env} and x.facet = ${facet('tag', tags[0] ?? '')} and x.span >= ${low.slice(0, 10)}
         order by r.id limit ${limit}`;
    },
    isComplete: async () => false,
  };
}

/** The runs of a batch, including existing runs that an idempotency key resolved to. */
export function runsOfBatch(env: number, batch: string): Subject {
  return {
    env,
    key: JSON.stringify([env, batch]),
    tags: undefined,
    belongs: () => true,
    ids(sql, { after, limit }) {
      return sql<Member[]>`
        select distinct r.id, (coalesce(octet_length(r.payload), 0) + coalesce(octet_length(r.output), 0)
                               + coalesce(octet_length(r.metadata), 0))::int as bytes
          from batch_runs(${env}, ${batch}) b join runs r on r.env = ${env} and r.id = b.run_id
         where r.id > ${after}
         order by r.id limit ${limit}`;
    },
    async isComplete(sql) {
      const rows = await sql`
        select from batches where env = ${env} and id = ${batch} and (sealed_at is not null or aborted_at is not null)`;
      return rows.length > 0;
    },
  };
}

const pageRuns = 200;
const pageBytes = 1_048_576;

/** The ids of the next page of a subject's runs, bounded in number and bytes. */
export async function pageOf(
  sql: Queryable,
  subject: Subject,
  after: string,
): Promise<{ readonly ids: string[]; readonly more: boolean }> {
  const members = await subject.ids(sql, { after, limit: pageRuns });
  let bytes = 0;
  const ids: string[] = [];
  for (const member of members) {
    bytes += member.bytes;
    if (ids.length > 0 && bytes > pageBytes) break;
    ids.push(member.id);
  }
  return { ids, more: ids.length < members.length || members.length === pageRuns };
}
