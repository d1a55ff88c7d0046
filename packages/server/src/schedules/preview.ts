import type { Operations, Query, Reply } from '@millrace/contract';
import type { Engine } from '../runs/engine/engine.ts';
import { tickAfter } from './pattern.ts';
import { findSchedule, patternOf } from './row.ts';
import { readable } from './settings.ts';
import { scheduleNotFound } from './update.ts';

/** The next ticks of a schedule, as if it were active. */
export async function previewSchedule(
  { sql, clock }: Engine,
  env: number,
  idOrKey: string,
  { n, from }: Query<Operations['previewSchedule']>,
): Promise<Reply<Operations['previewSchedule']>> {
  const row = await findSchedule(sql, env, idOrKey);
  if (!row) throw scheduleNotFound();
  const pattern = readable(() => patternOf(row));
  const ticks: { nominalAt: string; effectiveAt: string }[] = [];
  let tick = tickAfter(pattern, from?.getTime() ?? clock.now());
  while (tick && ticks.length < n) {
    ticks.push({
      nominalAt: new Date(tick.nominal).toISOString(),
      effectiveAt: new Date(tick.due).toISOString(),
    });
    tick = tickAfter(pattern, tick.nominal);
  }
  return { ticks };
}
