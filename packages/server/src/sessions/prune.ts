import type { Engine } from '../runs/engine/engine.ts';

const maxAtOnce = 50;
const maxRows = 1_000;

/**
 * The background job that deletes sessions that ended longer ago than the retention. All their records are deleted first, because a new
 * session with the same external id has channels with the same names, which must start empty.
 */
export const sessionPruner = ({ sql, clock }: Pick<Engine, 'sql' | 'clock'>, retentionMs: number) => ({
  name: 'session pruner',
  everyMs: 60_000,
  async tick(): Promise<boolean> {
    const before = new Date(clock.now() - retentionMs);
    const ended = await sql<{ env: number; id: string }[]>`
      select env, id from sessions where closed_at < ${before} or expires_at < ${before} limit ${maxAtOnce}`;
    if (ended.length === 0) return false;
    const envs = ended.map(({ env }) => env);
    const ids = ended.map(({ id }) => id);
    const channels = sql<{ id: string }[]>`
      select c.id from unnest(${envs}::int[], ${ids}::text[]) as e (env, id)
        join channels c on c.env = e.env and c.session_id = e.id`;
    for (let rows = maxRows; rows >= maxRows;) {
      const { count } = await sql`
        delete from channel_segments where ctid = any (array(
          select s.ctid from channel_segments s where s.channel in (${channels}) limit ${maxRows}))`;
      rows = count;
    }
    for (let rows = maxRows; rows >= maxRows;) {
      const { count } = await sql`
        delete from channel_parts where ctid = any (array(
          select p.ctid from channel_parts p where p.channel in (${channels}) limit ${maxRows}))`;
      rows = count;
    }
    // A session that has ended does not accept appends, so its channels are still empty.
    await sql`
      with gone as (
        delete from sessions s using unnest(${envs}::int[], ${ids}::text[]) as e (env, id)
         where s.env = e.env and s.id = e.id returning s.env, s.id
      )
      delete from channels c using gone g where c.env = g.env and c.session_id = g.id`;
    return ended.length >= maxAtOnce;
  },
});
