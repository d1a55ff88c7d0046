import type { Sql } from '../db/connect.ts';

/** Retention of audit log entries. */
const auditRetentionMs = 400 * 86_400_000;
const maxAtOnce = 1_000;

/** The job that deletes old audit log entries, and what is left of credentials and logins that ended. */
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
    await sql`delete from browser_links where expires_at < now()`;
    await sql`
      delete from browser_sessions where ctid = any(array(
        select ctid from browser_sessions where expires_at < now() - interval '30 days' order by expires_at limit ${maxAtOnce}))`;
    return acts.count >= maxAtOnce || uses.count >= maxAtOnce;
  },
});
