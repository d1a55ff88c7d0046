import { CronError } from '@millrace/contract/cron';
import type { Environment } from '../auth/principal.ts';
import { retryOnConflict } from '../db/retry.ts';
import { column, type Value } from '../db/columns.ts';
import type { Fragment, Transaction } from '../db/connect.ts';
import { isDataError } from '../db/errors.ts';
import { togetherOrAlone } from '../db/together-or-alone.ts';
import { markCanceled, notifyRunners, type StoppingAttempt } from '../runs/cancel/cancel.ts';
import type { Dispatch } from '../runs/dispatch/dispatch.ts';
import type { Engine } from '../runs/engine/engine.ts';
import type { ConnectedRunners } from '../runners/runners.ts';
import { launchTicks, prepareLaunch, type Launched } from './launch.ts';
import { planTicks, type Plan, type Skip, type SkipReason } from './plan.ts';
import { patternOf, type ScheduleRow } from './row.ts';
import { graceMs, readMissedRule } from './rules.ts';
import { isScheduledTask } from './tasks.ts';

export interface FireDependencies {
  readonly engine: Engine;
  readonly runners: ConnectedRunners;
  readonly dispatch: Pick<Dispatch, 'wake'>;
}

/** Maximum schedules of one transaction, and maximum ticks of one schedule in it. */
const maxSchedules = 500;
const maxTicks = 50;

interface DueRow extends ScheduleRow {
  readonly environment: Environment;
  readonly archived: boolean;
  readonly unattended: boolean;
  /** The id of the current version. */
  readonly version: number | null;
  readonly busy: boolean;
  /** Ticks due by this time are skipped: see `millrace resume --skip-missed`. */
  readonly skip_until: Date | null;
}

interface Fired {
  readonly row: DueRow;
  readonly plan: Plan;
  readonly launches: readonly Launched[];
}

/**
 * Fires due schedules: up to 500, in one transaction with the runs that their ticks create. Processes share the work row by row; if one
 * dies in the transaction, nothing changes and another one fires the schedules. Returns the number of processed schedules.
 */
export const fireDue = (dependencies: FireDependencies): Promise<number> =>
  togetherOrAlone(
    () => fireTogether(dependencies),
    () => fireNext(dependencies),
    maxSchedules,
  );

interface Outcome {
  readonly launched: readonly Launched[];
  readonly stop: readonly StoppingAttempt[];
}

async function fireTogether(dependencies: FireDependencies): Promise<number> {
  const { engine } = dependencies;
  const now = engine.clock.now();
  const act = async (tx: Transaction) => {
    const rows = await takeDue(tx, new Date(now), maxSchedules);
    const planned: Fired[] = [];
    for (const row of rows) planned.push(await planRow(engine, row, now));
    return { count: rows.length, fired: await fire(tx, engine, planned, now) };
  };
  const { count, fired } = await retryOnConflict(() => engine.sql.begin(act));
  notify(dependencies, fired);
  return count;
}

/**
 * Fires the schedule that is due first; false if there is none. If firing fails, its ticks are skipped with that reason, in the transaction
 * that claimed the schedule.
 */
async function fireNext(dependencies: FireDependencies): Promise<boolean> {
  const { engine } = dependencies;
  const now = engine.clock.now();
  const act = async (tx: Transaction): Promise<Outcome | undefined> => {
    const [row] = await takeDue(tx, new Date(now), 1);
    if (!row) return undefined;
    await tx.unsafe('savepoint claimed');
    try {
      return await fire(tx, engine, [await planRow(engine, row, now)], now);
    } catch (error) {
      if (!isDataError(error)) throw error;
      await tx.unsafe('rollback to claimed');
      engine.log.warn('job.failed', { job: 'scheduler', schedule: row.id, error: String(error) });
      return fire(tx, engine, [await planRow(engine, row, now, 'failed')], now);
    }
  };
  const fired = await retryOnConflict(() => engine.sql.begin(act));
  if (fired) notify(dependencies, fired);
  return fired !== undefined;
}

function notify({ engine, runners, dispatch }: FireDependencies, { launched, stop }: Outcome): void {
  notifyRunners(engine, runners, stop);
  const now = engine.clock.now();
  for (const { tick } of launched) engine.stats.fired(now - tick.due);
  for (const env of new Set(launched.map(({ environment }) => environment.id))) dispatch.wake(env);
}

/** Records the plan and creates the runs. */
async function fire(
  tx: Transaction,
  engine: Engine,
  planned: readonly Fired[],
  now: number,
): Promise<Outcome> {
  if (planned.length === 0) return { launched: [], stop: [] };
  const launched = await launchTicks(
    tx,
    engine,
    planned.flatMap(({ launches }) => launches),
  );
  await recordSkips(tx, planned, new Date(now));
  await moveOn(tx, planned, launched);
  return { launched, stop: await cancelEarlier(tx, launched, planned, new Date(now)) };
}

async function takeDue(tx: Transaction, now: Date, limit: number): Promise<DueRow[]> {
  const rows = await tx<Omit<DueRow, 'busy'>[]>`
    with due as materialized (
      select s.* from schedules s where s.next_at <= ${now} and not ${awaitsRunner(tx, now)}
       order by s.next_at limit ${limit} for update skip locked
    )
    select s.*, e.archived_at is not null as archived,
           json_build_object('id', e.id, 'publicId', e.public_id, 'kind', e.kind, 'branch', e.branch,
                             'projectId', e.project_id, 'projectRef', p.ref) as environment,
           e.kind = 'dev' and not exists (select from runners r where r.env = s.env and r.expires_at > ${now}) as unattended,
           (select c.version_id from current_versions c where c.env = s.env) as version,
           (select skip_ticks_until from installation) as skip_until
      from due s join environments e on e.id = s.env join projects p on p.id = e.project_id`;
  const busy = await busyAmong(tx, rows);
  return rows.map((row) => ({ ...row, busy: busy.has(row) }));
}

/**
 * Whether the runner of a development environment may still be connected, although its lease has expired: after an outage of the database,
 * the runner has one more lease for its next heartbeat. Ticks that are not missed wait for that.
 */
const awaitsRunner = (tx: Transaction, now: Date): Fragment => tx`(
  s.next_at > ${new Date(now.getTime() - graceMs)}
  and exists (select from environments e where e.id = s.env and e.kind = 'dev')
  and exists (select from runners r where r.env = s.env and not is_lease_over(r.heartbeat_at, r.expires_at, ${now}))
  and not exists (select from runners r where r.env = s.env and r.expires_at > ${now}))`;

/**
 * Queried after the rows are locked, because the statement that claimed them does not see the run of a process that held one just before.
 */
async function busyAmong<R extends ScheduleRow>(
  tx: Transaction,
  rows: readonly R[],
): Promise<ReadonlySet<R>> {
  const overlapping = rows.filter(({ overlap }) => overlap === 'skip' || overlap === 'cancel');
  if (overlapping.length === 0) return new Set();
  const live = await tx<{ ix: number }[]>`
    select i.ix::int as ix
      from unnest(${column(overlapping, ({ env }) => env)}::int[], ${column(overlapping, (row) => row.last_run_id)}::text[])
             with ordinality as i (env, run_id, ix)
      join runs r on r.env = i.env and r.id = i.run_id and r.status is null`;
  return new Set(live.flatMap(({ ix }) => overlapping[ix - 1] ?? []));
}

async function planRow(engine: Engine, row: DueRow, at: number, failed?: SkipReason): Promise<Fired> {
  const skipUntil = row.skip_until?.getTime() ?? 0;
  const isSkipped = row.next_at !== null && row.next_at.getTime() <= skipUntil;
  // Ticks that became due after that remain for the next call.
  const now = isSkipped ? Math.min(at, skipUntil) : at;
  const stopped = isSkipped ? 'missed' : failed;
  const first = row.next_nominal?.getTime() ?? now;
  try {
    const pattern = patternOf(row);
    const due = {
      pattern,
      since: row.since.getTime(),
      first,
      missed: readMissedRule(row.missed),
      overlap: row.overlap,
      busy: row.busy,
      stopped: stopped ?? (await reasonToStop(engine, row)),
    };
    const plan = planTicks(due, now, maxTicks);
    const launches: Launched[] = [];
    let lastTimestamp = row.last_nominal?.getTime();
    for (const tick of plan.fire) {
      const { environment, type, task, external_id: externalId, overlap } = row;
      const launch = {
        environment,
        type,
        task,
        externalId,
        overlap,
        pattern,
        tick,
        lastTimestamp,
        backfilled: false,
      };
      launches.push({ ...launch, run: await prepareLaunch(engine, launch) });
      lastTimestamp = tick.nominal;
    }
    return { row, plan, launches };
  } catch (error) {
    if (!(error instanceof CronError) && stopped === undefined) throw error;
    // A time zone that this runtime no longer has must not delay other schedules. It fires again once the zone is replaced.
    engine.log.warn('job.failed', { job: 'scheduler', schedule: row.id, error: String(error) });
    return { row, plan: { fire: [], skip: [], next: undefined }, launches: [] };
  }
}

async function reasonToStop({ versions }: Engine, row: DueRow): Promise<SkipReason | undefined> {
  if (row.archived) return 'archived';
  if (row.unattended) return 'no_runner';
  let current = await versions.current(row.env);
  if ((current?.id ?? null) !== row.version) {
    // The current version differs from the cached one.
    versions.forget(row.env);
    current = await versions.current(row.env);
  }
  return isScheduledTask(current?.tasks.get(row.task)) ? undefined : 'no_task';
}

async function recordSkips(tx: Transaction, planned: readonly Fired[], now: Date): Promise<void> {
  const skips = planned.flatMap(({ row, plan }) => plan.skip.map((skip) => ({ row, ...skip })));
  if (skips.length === 0) return;
  const pick = (read: (skip: Skip & { row: DueRow }) => Value) => column(skips, read);
  await tx`
    insert into schedule_skips (env, schedule_id, from_at, until_at, reason, recorded_at)
    select i.*, ${now} from unnest(
      ${pick(({ row }) => row.env)}::int[], ${pick(({ row }) => row.id)}::text[],
      ${pick(({ from }) => new Date(from))}::timestamptz[], ${pick(({ until }) => new Date(until))}::timestamptz[],
      ${pick(({ reason }) => reason)}::text[]) as i
    on conflict do nothing`;
}

async function moveOn(
  tx: Transaction,
  planned: readonly Fired[],
  launched: readonly Launched[],
): Promise<void> {
  const last = new Map(launched.map((launch) => [`${launch.environment.id} ${launch.pattern.id}`, launch]));
  const lastOf = ({ env, id }: DueRow) => last.get(`${env} ${id}`);
  const pick = (read: (fired: Fired) => Value) => column(planned, read);
  await tx`
    update schedules s set
      next_nominal = i.next_nominal, next_at = i.next_at,
      last_nominal = coalesce(i.last_nominal, s.last_nominal), last_run_id = coalesce(i.last_run_id, s.last_run_id)
      from unnest(
        ${pick(({ row }) => row.env)}::int[], ${pick(({ row }) => row.id)}::text[],
        ${pick(({ plan }) => plan.next && new Date(plan.next.nominal))}::timestamptz[],
        ${pick(({ plan }) => plan.next && new Date(plan.next.due))}::timestamptz[],
        ${pick(({ row }) => dateOf(lastOf(row)?.tick.nominal))}::timestamptz[],
        ${pick(({ row }) => lastOf(row)?.run.id)}::text[]) as i (env, id, next_nominal, next_at, last_nominal, last_run_id)
     where s.env = i.env and s.id = i.id`;
}

const dateOf = (instant: number | undefined): Date | undefined =>
  instant === undefined ? undefined : new Date(instant);

/** Cancels the run that a new one replaces, in the global lock order of runs. */
async function cancelEarlier(
  tx: Transaction,
  launched: readonly Launched[],
  planned: readonly Fired[],
  now: Date,
): Promise<StoppingAttempt[]> {
  const started = new Set(launched.map(({ pattern }) => pattern.id));
  const earlier = planned
    .filter(({ row }) => row.overlap === 'cancel' && row.busy && started.has(row.id))
    .map(({ row }) => ({ env: row.env, run: row.last_run_id as string }))
    .toSorted((a, b) => (a.run < b.run ? -1 : 1));
  const stopping: StoppingAttempt[] = [];
  for (const { env, run } of earlier) stopping.push(...(await markCanceled(tx, env, run, now)));
  return stopping;
}
