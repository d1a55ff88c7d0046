import type { FinalStatus, RunStatus } from '@millrace/contract';
import { isFinal } from '@millrace/contract';
import type { Fragment, Queryable } from '../../db/connect.ts';

/** The filter of a list of runs. An undefined field does not filter; an empty list of values matches nothing. */
export interface RunFilter {
  readonly envs: readonly number[];
  readonly statuses?: readonly RunStatus[] | undefined;
  readonly tasks?: readonly string[] | undefined;
  readonly queues?: readonly { readonly id: number; readonly name: string }[] | undefined;
  /** Version ids. */
  readonly versions?: readonly number[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly machines?: readonly string[] | undefined;
  readonly regions?: readonly string[] | undefined;
  readonly isTest?: boolean | undefined;
  readonly schedule?: string | undefined;
  readonly batch?: string | undefined;
  /** For each declared path, the facets of which a run must have one. */
  readonly paths?: readonly (readonly string[])[] | undefined;
  /** Ids of the fingerprints of an error group. */
  readonly errors?: readonly number[] | undefined;
  /** Id of a bulk action: the runs that it canceled, or the replays that it created. */
  readonly bulkAction?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

export const finalOf = (statuses: readonly RunStatus[]): FinalStatus[] => statuses.filter(isFinal);

/** The condition on a run `r`. */
export function passes(sql: Queryable, filter: RunFilter): Fragment {
  const {
    statuses,
    tasks,
    queues,
    versions,
    tags,
    machines,
    regions,
    isTest,
    schedule,
    batch,
    errors,
    paths = [],
    bulkAction,
    from,
    to,
  } = filter;
  const terms: Fragment[] = [];
  if (statuses) terms.push(hasStatus(sql, statuses));
  if (tasks) terms.push(sql`r.task = any(${tasks}::text[])`);
  if (queues) terms.push(sql`r.queue_id = any(${queues.map((queue) => queue.id)}::int[])`);
  if (versions) {
    terms.push(sql`
      coalesce(r.version_id, (select l.version_id from leases l where l.env = r.env and l.run_id = r.id))
        = any(${versions}::int[])`);
  }
  if (tags) terms.push(sql`r.tags && ${tags}::text[]`);
  if (machines) terms.push(sql`r.machine = any(${machines}::text[])`);
  if (regions) terms.push(sql`r.region = any(${regions}::text[])`);
  if (isTest !== undefined) terms.push(isTest ? sql`r.is_test` : sql`not r.is_test`);
  if (schedule !== undefined) terms.push(sql`r.schedule_id = ${schedule}`);
  if (batch !== undefined) terms.push(sql`r.batch_id = ${batch}`);
  for (const facets of paths) terms.push(sql`r.path_facets && ${facets}::text[]`);
  if (errors) terms.push(sql`r.error_fingerprint_id = any(${errors}::int[])`);
  if (bulkAction !== undefined) {
    terms.push(sql`
      exists (select from bulk_runs b
               where b.env = r.env and b.bulk_id = ${bulkAction} and b.ok and coalesce(b.replay_id, b.run_id) = r.id)`);
  }
  if (from) terms.push(sql`r.created_at >= ${from}`);
  if (to) terms.push(sql`r.created_at <= ${to}`);
  return terms.reduce((all, term) => sql`${all} and ${term}`, sql`true`);
}

/** The status of a live run follows from its table, as `retrieveRun` derives it. */
function hasStatus(sql: Queryable, statuses: readonly RunStatus[]): Fragment {
  const leased = sql`exists (select from leases l where l.env = r.env and l.run_id = r.id)`;
  const delayed = sql`exists (select from delayed d where d.env = r.env and d.run_id = r.id)`;
  const retrying = sql`exists (select from delayed d where d.env = r.env and d.run_id = r.id and d.retry)`;
  const pendingVersion = sql`exists (select from pending_version p where p.env = r.env and p.task = r.task and p.run_id = r.id)`;
  const suspended = sql`exists (select from suspended u where u.env = r.env and u.run_id = r.id)`;
  const ready = sql`exists (select from suspended u where u.env = r.env and u.run_id = r.id and u.ready_at is not null)`;
  const live: Partial<Record<RunStatus, Fragment>> = {
    PENDING_VERSION: pendingVersion,
    DELAYED: sql`${delayed} and not ${retrying}`,
    QUEUED: sql`not ${leased} and not ${delayed} and not ${pendingVersion} and (not ${suspended} or ${ready})`,
    WAITING: sql`${suspended} and not ${ready}`,
    EXECUTING: sql`(${leased} or ${retrying})`,
  };
  let some = sql`r.status = any(${finalOf(statuses)}::text[])`;
  for (const status of statuses) {
    const term = live[status];
    if (term) some = sql`${some} or (r.status is null and ${term})`;
  }
  return sql`(${some})`;
}
