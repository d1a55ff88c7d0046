import type { Environment } from '../auth/principal.ts';
import { column } from '../db/columns.ts';
import type { Transaction } from '../db/connect.ts';
import { isDataError } from '../db/errors.ts';
import { togetherOrAlone } from '../db/together-or-alone.ts';
import type { Dispatch } from '../runs/dispatch/dispatch.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { completeWaits } from './complete-waits.ts';
import { makeRuns, planDelivery, type Plan } from './plan.ts';

export interface DeliverDependencies {
  readonly engine: Engine;
  readonly dispatch: Pick<Dispatch, 'wake'>;
  /** Runs of this environment may continue. */
  readonly resume: (env: number) => void;
}

const maxAtOnce = 100;

interface DueRow {
  readonly env: number;
  readonly id: string;
  readonly name: string | null;
  readonly event: string;
  readonly replay_of: string | null;
  readonly environment: Environment;
  readonly archived: boolean;
  readonly version: number | null;
  /** Whether a token may be waiting for an event with its name. */
  readonly awaited: boolean;
}

/**
 * Delivers due events, in one transaction with the runs that they create. Processes share the work row by row; if one dies in the
 * transaction, nothing changes. Returns the number of processed events.
 */
export const deliverDue = (dependencies: DeliverDependencies): Promise<number> =>
  togetherOrAlone(
    () => deliverTogether(dependencies),
    () => deliverNext(dependencies),
    maxAtOnce,
  );

async function deliverTogether(dependencies: DeliverDependencies): Promise<number> {
  const { engine } = dependencies;
  const now = new Date(engine.clock.now());
  const { count, delivered } = await engine.sql.begin(async (tx) => {
    const rows = await takeDue(tx, now, maxAtOnce);
    return { count: rows.length, delivered: await deliver(tx, engine, rows, now) };
  });
  wake(dependencies, delivered);
  return count;
}

/** Environments in which runs were created, and in which runs may continue. */
interface Delivered {
  readonly created: ReadonlySet<number>;
  readonly resumed: ReadonlySet<number>;
}

const nothing: Delivered = { created: new Set(), resumed: new Set() };

function wake({ dispatch, resume }: DeliverDependencies, { created, resumed }: Delivered): void {
  for (const env of created) dispatch.wake(env);
  for (const env of resumed) resume(env);
}

/**
 * Delivers the event that is due first; false if there is none. An event that cannot be delivered is marked as failed, in the transaction that
 * claimed it.
 */
async function deliverNext(dependencies: DeliverDependencies): Promise<boolean> {
  const { engine } = dependencies;
  const now = new Date(engine.clock.now());
  const delivered = await engine.sql.begin(async (tx) => {
    const [row] = await takeDue(tx, now, 1);
    if (!row) return undefined;
    await tx.unsafe('savepoint taken');
    try {
      return await deliver(tx, engine, [row], now);
    } catch (error) {
      if (!isDataError(error)) throw error;
      await tx.unsafe('rollback to taken');
      const failure = reasonOf(error);
      await tx`update events set failed_at = ${now}, failure = ${failure} where env = ${row.env} and id = ${row.id}`;
      engine.log.warn('job.failed', { job: 'deliverer', env: row.env, event: row.id, error: failure });
      return nothing;
    }
  });
  if (delivered) wake(dependencies, delivered);
  return delivered !== undefined;
}

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll('\u0000', '').slice(0, 500);

/** Completes the waits for claimed events and creates their runs. */
async function deliver(
  tx: Transaction,
  engine: Engine,
  rows: readonly DueRow[],
  now: Date,
): Promise<Delivered> {
  const plans: Plan[] = [];
  for (const row of rows) plans.push(row.archived ? { version: null, runs: [] } : await planFor(engine, row));
  const awaited = rows
    .filter((row) => row.awaited && !row.archived && row.name !== null)
    .map(({ env, id, name, event }) => ({
      env,
      id,
      name: name ?? '',
      event: JSON.parse(event) as Record<string, unknown>,
    }));
  const resumed = await completeWaits(tx, awaited, now);
  const answering = await makeRuns(
    tx,
    engine,
    plans.flatMap(({ runs }) => runs),
  );
  await record(
    tx,
    rows,
    plans.map(({ runs }) => runs.map(({ id }) => answering.get(id) ?? id)),
    now,
  );
  const created = new Set(
    rows.filter((_, index) => (plans[index]?.runs.length ?? 0) > 0).map(({ env }) => env),
  );
  return { created, resumed };
}

const takeDue = (tx: Transaction, now: Date, limit: number): Promise<DueRow[]> => tx<DueRow[]>`
  with due as materialized (
    select p.ctid as row_id from pending_events p where p.due <= ${now} order by p.due limit ${limit} for update skip locked
  ), gone as (
    delete from pending_events p where p.ctid = any (array(select row_id from due)) returning p.env, p.id
  )
  select v.env, v.id, v.name, v.event, v.replay_of, e.archived_at is not null as archived,
         exists (select from event_waits w where w.env = v.env and w.name = v.name) as awaited,
         (select c.version_id from current_versions c where c.env = v.env) as version,
         json_build_object('id', e.id, 'publicId', e.public_id, 'kind', e.kind, 'branch', e.branch,
                           'projectId', e.project_id, 'projectRef', p.ref) as environment
    from gone g
    join events v on v.env = g.env and v.id = g.id
    join environments e on e.id = g.env
    join projects p on p.id = e.project_id
   order by v.env, v.id`;

/** Uses the version that is current now, not the cached one. */
async function planFor(engine: Engine, row: DueRow): Promise<Plan> {
  const { environment, id, name, replay_of: replayOf } = row;
  const deliverable = {
    environment,
    id,
    name,
    replayOf,
    event: JSON.parse(row.event) as Record<string, unknown>,
  };
  const plan = await planDelivery(engine, deliverable);
  if (plan.version === row.version) return plan;
  engine.versions.forget(row.env);
  return planDelivery(engine, deliverable);
}

/** Events of an environment that has been archived will never be delivered. */
async function record(
  tx: Transaction,
  rows: readonly DueRow[],
  runs: readonly (readonly string[])[],
  now: Date,
): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    update events e set
      delivered_at = case when i.archived then null else ${now}::timestamptz end,
      canceled_at = case when i.archived then ${now}::timestamptz end,
      run_ids = coalesce(string_to_array(i.runs, ','), '{}')
      from unnest(${column(rows, (row) => row.env)}::int[], ${column(rows, (row) => row.id)}::text[],
                  ${column(rows, (row) => row.archived)}::text[]::boolean[],
                  ${column(runs, (ids) => (ids.length > 0 ? ids.join(',') : null))}::text[])
             as i (env, id, archived, runs)
     where e.env = i.env and e.id = i.id`;
}
