import { isDeepStrictEqual } from 'node:util';
import type { Body, Operations, Reply } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { unprocessable } from '../problem.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { launchTicks, prepareLaunch, type Launched } from './launch.ts';
import { tickAfter, tickBefore, type Tick } from './pattern.ts';
import { propertiesOf, findSchedule, patternOf, type ScheduleRow } from './row.ts';
import { readable } from './settings.ts';
import { requireDeployedTask } from './tasks.ts';
import { scheduleNotFound } from './update.ts';

/**
 * Fires the ticks of a past range according to the current expression, except ticks that have already run. They do not wait for the window
 * and are not held back by an overlap rule other than `queue`.
 */
export async function backfillSchedule(
  engine: Engine,
  environment: Environment,
  idOrKey: string,
  body: Body<Operations['backfillSchedule']>,
  /** Called with the maximum number of runs before any is created; may throw. */
  take: (runs: number) => void = () => {},
): Promise<Reply<Operations['backfillSchedule']>> {
  const { from, to } = readRange(body, engine.clock.now());
  for (let tries = 1; ; tries++) {
    const row = await findSchedule(engine.sql, environment.id, idOrKey);
    if (!row) throw scheduleNotFound();
    // Runs before the transaction, because it may query the database over a separate connection.
    const { launches, next } = await planRange(engine, environment, row, { from, to, max: body.max });
    if (tries === 1) take(launches.length);
    const launched = await engine.sql.begin(async (tx) => {
      const locked = await findSchedule(tx, environment.id, idOrKey, true);
      if (!locked) throw scheduleNotFound();
      const isSame = locked.id === row.id && isDeepStrictEqual(propertiesOf(locked), propertiesOf(row));
      return isSame ? launchTicks(tx, engine, launches) : undefined;
    });
    // Changed since it was read.
    if (!launched) continue;
    return {
      runs: launched.map(({ run, tick: { nominal } }) => ({
        id: run.id,
        nominalAt: new Date(nominal).toISOString(),
      })),
      alreadyRun: launches.length - launched.length,
      next: next && new Date(next.nominal).toISOString(),
    };
  }
}

/** The runs of its first ticks starting at a time, and the next tick after them if it is also in the range. */
async function planRange(
  engine: Engine,
  environment: Environment,
  row: ScheduleRow,
  { from, to, max }: { readonly from: number; readonly to: number; readonly max: number },
): Promise<{ launches: Launched[]; next: Tick | undefined }> {
  await requireDeployedTask(engine, environment.id, row.task);
  const pattern = readable(() => patternOf(row));
  const launches: Launched[] = [];
  let last = tickBefore(pattern, from)?.nominal;
  let tick: Tick | undefined = tickAfter(pattern, from - 1);
  while (tick && tick.nominal < to && launches.length < max) {
    const { type, task, overlap, external_id: externalId } = row;
    const launch = {
      environment,
      type,
      task,
      overlap,
      externalId,
      pattern,
      tick,
      lastTimestamp: last,
      backfilled: true,
    };
    launches.push({ ...launch, run: await prepareLaunch(engine, launch) });
    last = tick.nominal;
    tick = tickAfter(pattern, tick.nominal);
  }
  return { launches, next: tick && tick.nominal < to ? tick : undefined };
}

/** A caller that backfills up to now may have a clock that is ahead by this much. */
const clockToleranceMs = 60_000;

/** The range of a request, which ends now at the latest. */
function readRange(
  body: { readonly from: string; readonly to: string },
  now: number,
): { from: number; to: number } {
  const from = Date.parse(body.from);
  const to = Date.parse(body.to);
  if (from < 0) throw unprocessable('from: must be in 1970 or later.');
  if (from >= to) throw unprocessable('from: must be before to.');
  if (to > now + clockToleranceMs) {
    throw unprocessable(`to: must not be in the future. The current time is ${new Date(now).toISOString()}.`);
  }
  return { from, to: Math.min(to, now) };
}
