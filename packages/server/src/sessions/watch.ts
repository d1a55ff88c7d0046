import { environment } from '../auth/credential-rows.ts';
import type { Environment } from '../auth/principal.ts';
import type { Transaction } from '../db/connect.ts';
import { DatabaseLost } from '../db/errors.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { noneToCome } from '../runs/waits/messages.ts';
import type { ReceiveDependencies } from './receive.ts';

/** Appends older than this have been handled, unless their process died. */
const graceMs = 30_000;
/** The longest time span that one tick scans, after all servers were down. */
const maxScanMs = 86_400_000;

/**
 * The background job that handles messages whose process died or failed before it acted on them. It starts runs for messages without a live
 * run, and resumes runs that wait for messages that have arrived, or for messages of a session that has ended. It scans the appends and
 * ends since the last scan of any process, but no idle sessions.
 */
export const sessionWatcher = (
  { sql, clock, log }: Pick<Engine, 'sql' | 'clock' | 'log'>,
  { ensureServed, endMessageWaits }: Pick<ReceiveDependencies, 'ensureServed' | 'endMessageWaits'>,
) => ({
  name: 'session watcher',
  everyMs: 10_000,
  tick: (): Promise<boolean> =>
    sql.begin(async (tx) => {
      // Only one process scans.
      const [last] = await tx<{ until: Date }[]>`select until from session_scan for update skip locked`;
      if (!last) return false;
      const since = last.until.getTime();
      const until = Math.min(clock.now() - graceMs, since + maxScanMs);
      if (until <= since) return false;
      for (const { id, environment: found } of await unserved(tx, since, until, clock.now())) {
        await ensureServed(found, id).catch((error: unknown) => {
          if (error instanceof DatabaseLost) throw error;
          log.warn('session.unserved', { session: id, error: String(error) });
        });
      }
      for (const came of await awaited(tx, since, until)) await endMessageWaits(came);
      for (const came of await ended(tx, since, until)) await endMessageWaits({ ...came, last: noneToCome });
      await tx`update session_scan set until = ${new Date(until)}`;
      return until === since + maxScanMs;
    }),
});

const written = (tx: Transaction, since: number, until: number) => tx`
  select distinct s.channel from channel_segments s where s.at > ${new Date(since)} and s.at <= ${new Date(until)}`;

/** Open sessions that got a message in this time span, after their run had ended. */
const unserved = (tx: Transaction, since: number, until: number, now: number) => tx<
  { id: string; environment: Environment }[]
>`
  with written as materialized (${written(tx, since, until)})
  select distinct on (s.env, s.id) s.id, ${environment(tx)}
    from written w
    join channels c on c.id = w.channel and c.name like 's/in/%' and c.start_seq < c.next_seq
    join sessions s on s.env = c.env and s.id = c.session_id
    join environments e on e.id = s.env and e.archived_at is null
    join projects p on p.id = e.project_id
    left join runs r on r.env = s.env and r.id = s.run_id
   where s.closed_at is null and (s.expires_at is null or s.expires_at > ${new Date(now)})
     and (r.id is null or r.finished_at <= c.last_at)`;

/** Messages of this time span that a run still waits for. */
const awaited = (tx: Transaction, since: number, until: number) => tx<
  { env: number; channel: string; last: number }[]
>`
  with written as materialized (${written(tx, since, until)})
  select distinct c.env, c.id::text as channel, (c.next_seq - 1)::float8 as last
    from written w
    join channels c on c.id = w.channel and (c.name like 's/in/%' or c.name like 'i/%')
    join waits x on x.env + 0 = c.env and x.watched = c.id::text and x.over_at is null and x.beyond < c.next_seq - 1`;

/** Sessions that ended in this time span and for whose messages a run still waits: its wait began before the session existed. */
const ended = (tx: Transaction, since: number, until: number) => tx<{ env: number; channel: string }[]>`
  with ended as materialized (
    select s.env, s.id from sessions s where s.closed_at > ${new Date(since)} and s.closed_at <= ${new Date(until)}
    union
    select s.env, s.id from sessions s where s.expires_at > ${new Date(since)} and s.expires_at <= ${new Date(until)}
  )
  select distinct c.env, c.id::text as channel
    from ended e
    join channels c on c.env = e.env and c.session_id = e.id and c.name like 's/in/%'
    join waits x on x.env + 0 = c.env and x.watched = c.id::text and x.over_at is null`;
