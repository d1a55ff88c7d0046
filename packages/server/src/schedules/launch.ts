import type { OverlapRule, ScheduleType } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { column } from '../db/columns.ts';
import type { Transaction } from '../db/connect.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { prepareRun } from '../runs/create/prepare.ts';
import type { NewRun } from '../runs/create/row.ts';
import { insertRuns } from '../runs/create/insert.ts';
import { schedulePayload } from './payload.ts';
import type { Pattern, Tick } from './pattern.ts';
import { oneByOneQueue } from './rules.ts';

/** A tick for which a run is about to be created. */
export interface Launch {
  readonly environment: Environment;
  readonly type: ScheduleType;
  readonly task: string;
  readonly externalId: string | null;
  readonly overlap: OverlapRule;
  readonly pattern: Pattern;
  readonly tick: Tick;
  /** Nominal time of the last tick that created a run. */
  readonly lastTimestamp: number | undefined;
  readonly backfilled: boolean;
}

/** The run of a tick, ready to be inserted. */
export async function prepareLaunch(engine: Engine, launch: Launch): Promise<NewRun> {
  const { environment, pattern, tick, overlap } = launch;
  const payload = schedulePayload({ ...launch, timestamp: tick.nominal });
  const run = await prepareRun(
    engine,
    environment,
    launch.task,
    {
      payload,
      options: {
        payloadType: 'application/super+json',
        ...(overlap === 'queue' && { queue: { name: oneByOneQueue }, concurrencyKey: pattern.id }),
      },
    },
    { isWhole: true },
  );
  // The behavior while an earlier tick's run is live is a setting of the schedule.
  return { ...run, singleton: undefined, scheduleId: pattern.id };
}

export interface Launched extends Launch {
  readonly run: NewRun;
}

/**
 * Records ticks and creates their runs, in the caller's transaction. A tick that was recorded before, by another process or a backfill, creates
 * none. Returns the ticks that created a run.
 */
export async function launchTicks(
  tx: Transaction,
  engine: Engine,
  launches: readonly Launched[],
): Promise<Launched[]> {
  if (launches.length === 0) return [];
  const recorded = await tx<{ run_id: string }[]>`
    insert into schedule_ticks (env, schedule_id, nominal_at, due_at, fired_at, backfilled, run_id)
    select i.env, i.schedule_id, i.nominal_at, i.due_at, ${new Date(engine.clock.now())}, i.backfilled, i.run_id
      from unnest(${column(launches, ({ environment }) => environment.id)}::int[],
                  ${column(launches, ({ pattern }) => pattern.id)}::text[],
                  ${column(launches, ({ tick }) => new Date(tick.nominal))}::timestamptz[],
                  ${column(launches, ({ tick }) => new Date(tick.due))}::timestamptz[],
                  ${column(launches, ({ backfilled }) => backfilled)}::text[]::boolean[],
                  ${column(launches, ({ run }) => run.id)}::text[])
             as i (env, schedule_id, nominal_at, due_at, backfilled, run_id)
    on conflict do nothing
    returning run_id`;
  const newIds = new Set(recorded.map((row) => row.run_id));
  const launched = launches.filter(({ run }) => newIds.has(run.id));
  if (launched.length > 0)
    await insertRuns(
      { sql: tx, clock: engine.clock },
      launched.map(({ run }) => run),
    );
  return launched;
}
