import { lastMoment, parseDelay } from '@millrace/contract';
import { badRequest, unprocessable } from '../../problem.ts';
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { Engine } from '../engine/engine.ts';

/**
 * Changes the due time of a run that is still delayed. 400 if the new time is in the past. 422 if the run was released, has started or has
 * ended, so that it is no longer delayed.
 */
export async function rescheduleRun(
  { sql, clock, changes }: Engine,
  dispatch: Pick<Dispatch, 'expect'>,
  env: number,
  run: string,
  delay: string,
): Promise<void> {
  const now = clock.now();
  const due = parseDelay(delay, new Date(now));
  if (!(due instanceof Date)) throw badRequest(`delay: ${due.error}`);
  if (due.getTime() < now) {
    throw badRequest(
      `delay: ${due.toISOString()} is in the past. Send a later date, or a duration such as 10m.`,
    );
  }
  if (due.getTime() > lastMoment) throw badRequest('delay: must end by the year 9999.');
  const [moved] = await sql`
    with moved as (
      update delayed set due = ${due} where env = ${env} and run_id = ${run} and not retry and due < 'infinity' returning env, run_id
    )
    update runs r set delayed_until = ${due}, sort_key = ${due.getTime()}::bigint - r.priority_ms, updated_at = ${new Date(now)}
      from moved m where r.env = m.env and r.id = m.run_id
    returning r.id`;
  if (!moved) throw unprocessable('Only a run that is still DELAYED can be rescheduled.', 'run_not_delayed');
  dispatch.expect(due.getTime());
  changes.changed(env, [run]);
}
