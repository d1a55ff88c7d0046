import { LRUCache } from 'lru-cache';
import type { Channels } from '../channels/channels.ts';
import { runStream, type ChannelKey } from '../channels/key.ts';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import { maxEntries } from '../max-entries.ts';
import { notFound, unprocessable } from '../problem.ts';
import type { RunChanges } from '../runs/engine/changes.ts';

export type Target = 'self' | 'parent' | 'root';

export interface OpenStreams {
  /** Resolves with the channel of a run's stream, which is created if missing. The caller has authorized the run. */
  open(env: number, run: string, target: Target, stream: string): Promise<ChannelKey>;
}

export const maxStreams = 100;
const maxCached = 20_000;

/** Creates the streams of runs. A run contains their names, so that its subscribers can follow them. */
export function openStreams({
  sql,
  clock,
  changes,
  channels,
}: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly changes: RunChanges;
  readonly channels: Channels;
}): OpenStreams {
  const opened = new LRUCache<string, true>(maxEntries(maxCached));
  return {
    async open(env, run, target, stream) {
      const owner = target === 'self' ? run : await relative(sql, env, run, target);
      const key = runStream(env, owner, stream);
      if (opened.has(key.id)) return key;
      const [row] = await sql<{ streams: string[] | null }[]>`
        select streams from runs where env = ${env} and id = ${owner}`;
      if (!row) throw notFound('Run not found', false, 'run_not_found');
      if (!row.streams?.includes(stream)) {
        if ((row.streams?.length ?? 0) >= maxStreams) {
          throw unprocessable(
            `A run has at most ${maxStreams} streams; this run has reached the limit.`,
            'limit_reached',
          );
        }
        await channels.open([{ key }]);
        await sql`
          update runs set streams = array_append(streams, ${stream}), updated_at = ${new Date(clock.now())}
           where env = ${env} and id = ${owner} and not coalesce(streams, '{}') @> ${[stream]}::text[]`;
        changes.changed(env, [owner]);
      }
      opened.set(key.id, true);
      return key;
    },
  };
}

/** The parent or root of a run; the run itself if it has none. */
async function relative(sql: Sql, env: number, run: string, target: 'parent' | 'root'): Promise<string> {
  const [row] = await sql<{ parent_id: string | null; root_id: string | null }[]>`
    select parent_id, root_id from runs where env = ${env} and id = ${run}`;
  return (target === 'parent' ? row?.parent_id : row?.root_id) ?? run;
}
