import type { Clock } from '../../db/clock.ts';
import type { Queryable, Sql } from '../../db/connect.ts';
import type { Job } from '../../jobs/job.ts';
import type { Log } from '../../logger.ts';
import type { AlertRow } from './alert.ts';
import { evaluate } from './evaluate.ts';

export interface EvaluatorDependencies {
  readonly sql: Sql;
  readonly log: Log;
  readonly clock: Pick<Clock, 'now'>;
}

/** The interval between checks of an alert, and the pause after a failed check. */
export const everyMs = 10_000;
const afterFailureMs = 60_000;
/** Maximum alerts of one tick. */
const maxAtOnce = 50;

/**
 * The job that checks alerts. An alert is locked during its check, so that only one of several server processes checks it, and the result
 * commits together with the messages about it.
 */
export const alertEvaluator = ({ sql, log, clock }: EvaluatorDependencies): Job => ({
  name: 'alert evaluator',
  everyMs: 5_000,
  async tick() {
    for (let checked = 0; checked < maxAtOnce; checked++) {
      const now = new Date(clock.now());
      let id: string | undefined;
      try {
        id = await sql.begin(async (tx) => {
          const due = await takeDue(tx, now);
          id = due?.id;
          if (due && !due.archived) await evaluate(tx, due, now);
          return id;
        });
      } catch (error) {
        if (id === undefined) throw error;
        log.warn('job.failed', { job: 'alert evaluator', alert: id, error: String(error) });
        // Postponed, so that it does not delay the others.
        await sql`update alerts set next_at = ${new Date(now.getTime() + afterFailureMs)} where id = ${id}`;
      }
      if (id === undefined) return false;
    }
    return true;
  },
});

/** Locks the alert that is due first and sets its next time. */
async function takeDue(tx: Queryable, now: Date): Promise<(AlertRow & { archived: boolean }) | undefined> {
  const [due] = await tx<(AlertRow & { archived: boolean })[]>`
    update alerts a set next_at = ${new Date(now.getTime() + everyMs)}
      from environments e
     where e.id = a.env and a.id = (
       select x.id from alerts x where x.enabled and x.next_at <= ${now}
        order by x.next_at limit 1 for no key update skip locked)
    returning a.*, e.archived_at is not null as archived`;
  return due;
}
