import type { Sql } from '../db/connect.ts';

/** How long an administrative act is remembered. */
const auditRetentionMs = 400 * 86_400_000;
const maxAtOnce = 1_000;

/** The job that forgets old acts, uses of one-time tokens that have ended, signing keys that verify nothing any more. */
export const accessPruner = (sql: Sql) => ({
  name: 'access pruner',
  everyMs: 60_000,
  async tick(): Promise<boolean> {
    const acts = await sql`
      delete from audit_log where ctid = any(array(
        select ctid from audit_log where at < now() - make_interval(secs => ${auditRetentionMs / 1_000})
         order by at limit ${maxAtOnce}))`;
    const uses = await sql`
      delete from one_time_uses where ctid = any(array(
        select ctid from one_time_uses where expires_at < now() order by expires_at limit ${maxAtOnce}))`;
    await sql`delete from signing_keys where expires_at < now()`;
    await sql`delete from invitations where coalesce(ended_at, expires_at) < now() - interval '30 days'`;
    return acts.count >= maxAtOnce || uses.count >= maxAtOnce;
  },
});
