import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import type { Job } from '../jobs/job.ts';

const maxAtOnce = 1_000;
/** How long a delivered row is remembered. Whoever delivers a row deletes it right after. */
export const receiptDays = 90;

/** The job that deletes old receipts. */
export const receiptPruner = ({
  sql,
  clock,
}: {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
}): Job => ({
  name: 'receipt pruner',
  everyMs: 60_000,
  async tick() {
    const before = new Date(clock.now() - receiptDays * 86_400_000);
    const { count } = await sql`
      delete from outbox_receipts where ctid = any(array(
        select ctid from outbox_receipts where created_at < ${before} order by created_at limit ${maxAtOnce} for update skip locked))`;
    return count >= maxAtOnce;
  },
});
