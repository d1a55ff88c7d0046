import type { Transaction } from '../../db/connect.ts';

/** The number that a runner assigned to a log frame. */
export interface FrameNumber {
  readonly runner: string;
  readonly seq: number;
}

interface Numbered {
  readonly env: number;
  readonly from: FrameNumber | undefined;
}

interface LoggedRow {
  readonly env: number;
  readonly runner_id: string;
  readonly logged: string;
}

/**
 * Returns which frames are not stored yet and marks them as stored in the transaction that stores them. A runner sends a frame again if it
 * received no confirmation.
 */
export async function newFrames(tx: Transaction, frames: readonly Numbered[]): Promise<boolean[]> {
  const senders = new Map<string, { readonly env: number; readonly runner: string }>();
  for (const { env, from } of frames)
    if (from) senders.set(keyOf(env, from.runner), { env, runner: from.runner });
  if (senders.size === 0) return frames.map(() => true);
  const envs = [...senders.values()].map(({ env }) => env);
  const runners = [...senders.values()].map(({ runner }) => runner);
  // In one global order, so that two servers do not wait for each other.
  const rows = await tx<LoggedRow[]>`
    select n.env, n.runner_id, n.logged
      from runner_names n
      join unnest(${envs}::int[], ${runners}::text[]) as s (env, runner_id) using (env, runner_id)
     order by n.no for update of n`;
  const logged = new Map(rows.map((row) => [keyOf(row.env, row.runner_id), Number(row.logged)]));
  const isNew = frames.map(({ env, from }) => {
    if (!from) return true;
    const key = keyOf(env, from.runner);
    if (from.seq <= (logged.get(key) ?? 0)) return false;
    logged.set(key, from.seq);
    return true;
  });
  const last = [...senders.keys()].map((key) => logged.get(key) ?? 0);
  await tx`
    update runner_names n set logged = s.logged
      from unnest(${envs}::int[], ${runners}::text[], ${last}::bigint[]) as s (env, runner_id, logged)
     where n.env = s.env and n.runner_id = s.runner_id and n.logged < s.logged`;
  return isNew;
}

const keyOf = (env: number, runner: string): string => `${env} ${runner}`;
