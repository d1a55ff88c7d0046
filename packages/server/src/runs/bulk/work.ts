import type { Environment } from '../../auth/principal.ts';
import type { Transaction } from '../../db/connect.ts';
import { DatabaseLost, isConflict, isTransient } from '../../db/errors.ts';
import type { VariableCache } from '../../envvars/variable-cache.ts';
import { markedCanceled, notifyRunners, type StoppingAttempt } from '../cancel/cancel.ts';
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { Engine } from '../engine/engine.ts';
import type { RunFilter } from '../list/filter.ts';
import { findRuns } from '../list/find.ts';
import { idAt } from '../list/position.ts';
import type { ConnectedRunners } from '../../runners/runners.ts';
import { lockUnlessAborting } from './abort.ts';
import { cancelAll, noteActed, replayAll, type Acted } from './act.ts';

export interface BulkDependencies {
  readonly engine: Engine;
  readonly runners: ConnectedRunners;
  readonly dispatch: Pick<Dispatch, 'wake'>;
  readonly redactor: VariableCache['redactor'];
}

interface Action {
  readonly env: number;
  readonly id: string;
  readonly type: 'CANCEL' | 'REPLAY';
  readonly filter: RunFilter | null;
  readonly cursor: string;
}

/** Notifications to send after a tick has committed. */
interface Done {
  readonly env: number;
  readonly live: readonly StoppingAttempt[];
  readonly queued: boolean;
}

const gatheredAtOnce = 1_000;
const actedAtOnce = 100;
/** The maximum delay between reading a trigger, which assigns the run's id, and creating its run. */
const slackMs = 10_000;

/**
 * The job that executes bulk actions, one step per tick. A step is one transaction that locks the action. It collects some of its runs, or
 * processes some and records the results. Any number of processes may run the job; if one dies, the action remains at its last commit. A
 * run that cannot be processed does not stop the others: it is tried separately and counted as failed.
 */
export function bulkWorker(dependencies: BulkDependencies) {
  const { engine, runners, dispatch } = dependencies;
  const { sql } = engine;
  let limit = actedAtOnce;
  return {
    name: 'bulk worker',
    everyMs: 1_000,
    async tick(): Promise<boolean> {
      // Without a transaction: most ticks find no action.
      const [pending] =
        await sql`select from bulk_actions where status = 'PENDING' order by worked_at limit 1`;
      if (!pending) return false;
      const trying: Trying = { limit };
      try {
        const done = await sql.begin((tx) => piece(tx, dependencies, trying));
        limit = Math.min(actedAtOnce, limit * 2);
        if (!done) return false;
        notifyRunners(engine, runners, done.live);
        if (done.queued) dispatch.wake(done.env);
        return true;
      } catch (error) {
        const { action, run } = trying;
        if (error instanceof DatabaseLost || action === undefined) throw error;
        if (isConflict(error)) return true;
        if (run === undefined || isTransient(error)) {
          // The failure was not caused by a run. Other actions go first, so that they are not affected.
          await sql`
            update bulk_actions set worked_at = ${new Date(engine.clock.now())}
             where env = ${action.env} and id = ${action.id} and status = 'PENDING'`;
          throw error;
        }
        if (trying.limit === 1) {
          limit = actedAtOnce;
          engine.log.warn('job.failed', { job: 'bulk worker', error: String(error) });
          await sql.begin((tx) => giveUp(tx, trying, new Date(engine.clock.now())));
        } else limit = 1;
        return true;
      }
    },
  };
}

/** The state of a tick. If it fails while it has only one run, that run is known to be the cause. */
interface Trying {
  readonly limit: number;
  action?: Pick<Action, 'env' | 'id'>;
  run?: string | undefined;
}

async function giveUp(tx: Transaction, { action, run }: Trying, at: Date): Promise<void> {
  if (action === undefined || run === undefined) return;
  const { env, id } = action;
  const [locked] = await tx`
    select from bulk_actions where env = ${env} and id = ${id} and status = 'PENDING' for update`;
  if (!locked) return;
  // Checked after locking, because another process may have processed the run already.
  const [left] = await tx`
    select from bulk_runs where env = ${env} and bulk_id = ${id} and run_id = ${run} and ok is null`;
  if (left) await noteActed(tx, env, id, [{ run, ok: false }], at);
}

/** Undefined if no action is left, or the next one is being aborted. */
async function piece(
  tx: Transaction,
  { engine, redactor }: BulkDependencies,
  trying: Trying,
): Promise<Done | undefined> {
  const [action] = await tx<Action[]>`
    select env, id, type, filter, cursor as cursor from bulk_actions
     where status = 'PENDING' order by worked_at limit 1 for update skip locked`;
  if (!action) return undefined;
  const at = new Date(engine.clock.now());
  const { env, id } = action;
  if (!(await lockUnlessAborting(tx, env, id))) return undefined;
  const nothing: Done = { env, live: [], queued: false };
  trying.action = { env, id };
  if (action.filter) {
    await gather(tx, action, action.filter, at);
    return nothing;
  }
  const left = await tx<{ run_id: string }[]>`
    select run_id from bulk_runs where env = ${env} and bulk_id = ${id} and ok is null order by run_id limit ${trying.limit}`;
  if (left.length === 0) {
    await tx`update bulk_actions set status = 'COMPLETED', completed_at = ${at} where env = ${env} and id = ${id}`;
    // A process that died right after a commit did not send its notifications.
    return action.type === 'CANCEL' ? { ...nothing, live: await markedCanceled(tx, env) } : nothing;
  }
  const runs = left.map((row) => row.run_id);
  trying.run = runs[0];
  let acted: Acted[] = runs.map((run) => ({ run, ok: false }));
  let live: StoppingAttempt[] = [];
  if (action.type === 'CANCEL') ({ acted, live } = await cancelAll(tx, env, runs, at));
  else {
    const environment = await environmentOf(tx, env);
    if (environment) acted = await replayAll(tx, engine, environment, runs, redactor);
  }
  await noteActed(tx, env, id, acted, at);
  return { env, live, queued: action.type === 'REPLAY' };
}

/** Collects more of the action's runs, newest first. */
async function gather(
  tx: Transaction,
  { env, id, cursor }: Action,
  stored: RunFilter,
  at: Date,
): Promise<void> {
  const { from, to } = stored;
  const filter: RunFilter = {
    ...stored,
    envs: [env],
    // JSON has no dates.
    from: from && new Date(from),
    to: to && new Date(to),
  };
  const { runs, edge } = await findRuns(tx, filter, {
    low: filter.from ? idAt(filter.from.getTime() - slackMs) : '',
    high: cursor,
    backward: false,
    limit: gatheredAtOnce,
  });
  const ids = runs.map((run) => run.id);
  await tx`
    insert into bulk_runs (env, bulk_id, run_id) select ${env}::int, ${id}, r from unnest(${ids}::text[]) as r`;
  const isAll = edge === undefined && ids.length < gatheredAtOnce;
  await tx`
    update bulk_actions
       set total = total + ${ids.length}, cursor = ${edge ?? ids.at(-1) ?? cursor}, worked_at = ${at},
           filter = ${isAll ? null : JSON.stringify(stored)}::text::jsonb
     where env = ${env} and id = ${id}`;
}

async function environmentOf(tx: Transaction, env: number): Promise<Environment | undefined> {
  const [row] = await tx<Environment[]>`
    select e.id, e.public_id as "publicId", e.kind, e.branch, e.project_id as "projectId", p.ref as "projectRef"
      from environments e join projects p on p.id = e.project_id where e.id = ${env}`;
  return row;
}
