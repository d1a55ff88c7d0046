import type { Clock } from '../db/clock.ts';
import type { Fragment, Sql } from '../db/connect.ts';
import type { Job } from '../jobs/job.ts';
import type { Retention } from './retention.ts';

interface Expiring {
  readonly table: Fragment;
  /** The time from which `retentionMs` of a row `x` is counted. */
  readonly since: Fragment;
  /** Default 0. */
  readonly retentionMs?: number;
  /** The current time. Default: the server's clock, which tests can shift. */
  readonly now?: Fragment;
  /** Rows that match are retained longer. */
  readonly unless?: Fragment;
}

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  readonly retention: Pick<Retention, 'notificationsMs'>;
}

const dayMs = 86_400_000;
const maxAtOnce = 1_000;

/** Tables whose rows expire individually. Rows that expire with others, or by environment, have separate pruners. */
const expiringTables = ({ sql, retention }: Dependencies): readonly Expiring[] => [
  { table: sql`audit_log`, since: sql`x.at`, retentionMs: 400 * dayMs },
  // As long as the audit log, which records who requested them.
  { table: sql`erasures`, since: sql`x.completed_at`, retentionMs: 400 * dayMs },
  { table: sql`invitations`, since: sql`coalesce(x.ended_at, x.expires_at)`, retentionMs: 30 * dayMs },
  { table: sql`browser_sessions`, since: sql`x.expires_at`, retentionMs: 30 * dayMs },
  { table: sql`browser_links`, since: sql`x.expires_at` },
  { table: sql`one_time_uses`, since: sql`x.expires_at` },
  { table: sql`signing_keys`, since: sql`x.expires_at` },
  { table: sql`idempotency_keys`, since: sql`x.expires_at` },
  // A run that is still waiting may have been rescheduled; other runs can no longer be pushed.
  { table: sql`debounces`, since: sql`x.due`, unless: waits(sql) },
  { table: sql`collecting`, since: sql`x.due`, unless: waits(sql) },
  // The retention of the runs' request keys.
  { table: sql`run_parts`, since: sql`x.closed_at`, retentionMs: dayMs },
  { table: sql`trigger_starts`, since: sql`x.over_at`, now: sql`rate_now()` },
  { table: sql`schedule_ticks`, since: sql`x.fired_at`, retentionMs: 30 * dayMs },
  { table: sql`schedule_skips`, since: sql`x.recorded_at`, retentionMs: 30 * dayMs },
  {
    table: sql`notifications`,
    since: sql`x.at`,
    retentionMs: retention.notificationsMs,
    unless: sql`exists (select from notification_deliveries d where d.notification_id = x.id and d.due is not null)`,
  },
  // A delivered row is deleted right after its delivery; this only prevents a second delivery.
  { table: sql`outbox_receipts`, since: sql`x.created_at`, retentionMs: 90 * dayMs },
  { table: sql`run_stat_flushes`, since: sql`x.at`, retentionMs: dayMs },
];

const waits = (sql: Sql): Fragment =>
  sql`exists (select from delayed d where d.env = x.env and d.run_id = x.run_id)`;

/** One job for each table of {@link expiringTables}, which deletes its old rows. */
export const rowPruners = (dependencies: Dependencies): Job[] =>
  expiringTables(dependencies).map((expiring) => pruner(dependencies, expiring));

function pruner({ sql, clock }: Dependencies, { table, since, retentionMs = 0, now, unless }: Expiring): Job {
  return {
    name: `${table.text} pruner`,
    everyMs: 60_000,
    async tick() {
      const before = now ?? sql`${new Date(clock.now() - retentionMs)}`;
      // Locked first: an expired row may be replaced at the same time, and PostgreSQL before 17.7, 16.11 and 15.15 would delete the new one.
      const { count } = await sql`
        delete from ${table} where ctid = any(array(
          select x.ctid from ${table} x
           where ${since} <= ${before} and not ${unless ?? sql`false`}
           order by ${since} limit ${maxAtOnce} for update of x skip locked))`;
      return count >= maxAtOnce;
    },
  };
}
