import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';

const maxAtOnce = 1_000;

/** The job that deletes old notifications with their deliveries, unless a delivery is still pending. */
export const notificationPruner = (sql: Sql, clock: Pick<Clock, 'now'>, retentionMs: number) => ({
  name: 'notification pruner',
  everyMs: 60_000,
  async tick(): Promise<boolean> {
    const gone = await sql`
      delete from notifications where ctid = any(array(
        select n.ctid from notifications n
         where n.at < ${new Date(clock.now() - retentionMs)}
           and not exists (select from notification_deliveries d where d.notification_id = n.id and d.due is not null)
         order by n.at limit ${maxAtOnce}))`;
    return gone.count >= maxAtOnce;
  },
});
