import { lastMoment } from '@millrace/contract';
import type { AttemptWaits, AttemptWaited, Wait } from '@millrace/contract/runner';
import { column, type Value } from '../../db/columns.ts';
import type { Sql } from '../../db/connect.ts';
import { groupCommit } from '../../db/group.ts';
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { Engine } from '../engine/engine.ts';

/** Waits of one attempt that are beginning, or that its runner checks again. */
export interface BegunWaits extends AttemptWaits {
  readonly env: number;
}

interface BegunRow {
  readonly env: number;
  readonly fence: string;
  readonly state: AttemptWaited['state'];
  readonly suspension: string | null;
  readonly keys: string[];
  readonly limited: boolean;
}

export type BeginWaits = (begun: BegunWaits) => Promise<AttemptWaited>;

/**
 * Stores the waits of attempts. An attempt none of whose waits has ended is suspended: its lease ends, but its fence remains valid.
 * Concurrent calls share a statement and a commit.
 */
export function createBeginWaits(
  engine: Engine,
  sql: Sql,
  dispatch: Dispatch,
  resume: (env: number) => void,
): BeginWaits {
  const write = groupCommit<BegunWaits, AttemptWaited>(
    (begun) => writeWaits(engine, sql, dispatch, resume, begun),
    { maxItems: 100 },
  );
  return async (begun) => {
    if (!begun.waits.every(isStorable))
      throw new TypeError('A wait has a key or a target that cannot be stored.');
    return write(begun);
  };
}

const kinds: readonly unknown[] = ['RUN', 'BATCH', 'TOKEN', 'TIME', 'MESSAGE'] satisfies Wait['kind'][];

/** A runner may send anything. */
function isStorable(sent: unknown): boolean {
  if (typeof sent !== 'object' || sent === null) return false;
  const { key, kind, target = '', beyond = 0, until, inMs } = sent as Readonly<Record<string, unknown>>;
  return (
    isText(key, 512) &&
    kinds.includes(kind) &&
    isText(target, 256) &&
    Number.isSafeInteger(beyond) &&
    [until, inMs].every((ms) => ms === undefined || Number.isFinite(ms))
  );
}

const isText = (value: unknown, max: number): boolean =>
  typeof value === 'string' && value.length <= max && !value.includes('\0');

const momentOf = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : Math.min(lastMoment, Math.max(0, ms));

async function writeWaits(
  engine: Engine,
  sql: Sql,
  dispatch: Dispatch,
  resume: (env: number) => void,
  begun: readonly BegunWaits[],
): Promise<AttemptWaited[]> {
  const now = engine.clock.now();
  const rows = begun.flatMap(({ env, run, fence, waits }) =>
    // The trusted fields come last, because a runner may send anything in its message.
    waits.map(({ inMs, ...wait }) => ({
      ...wait,
      env,
      run,
      fence,
      until: momentOf(wait.until ?? (inMs === undefined ? undefined : now + inMs)),
    })),
  );
  const pick = (read: (row: (typeof rows)[number]) => Value) => column(rows, read);
  const written = await sql<BegunRow[]>`
    select * from begin_waits(
      ${new Date(now)},
      ${pick((row) => row.env)}::int[],
      ${pick((row) => row.run)}::text[],
      ${pick((row) => row.fence)}::bigint[],
      ${pick((row) => row.key)}::text[],
      ${pick((row) => row.kind)}::text[],
      ${pick((row) => row.target)}::text[],
      ${pick((row) => (row.until === undefined ? null : new Date(row.until)))}::text[]::timestamptz[],
      ${pick((row) => row.beyond)}::bigint[])`;
  for (const env of new Set(written.filter((row) => row.limited).map((row) => row.env))) {
    resume(env);
    dispatch.wake(env);
  }
  const soonest = Math.min(...rows.map((row) => row.until ?? Number.POSITIVE_INFINITY));
  if (Number.isFinite(soonest)) dispatch.expect(soonest);
  const byFence = new Map(written.map((row) => [Number(row.fence), row]));
  return begun.map(({ fence }) => {
    const row = byFence.get(fence);
    if (!row) return { fence, state: 'stale', suspension: null, keys: [] };
    return {
      fence,
      state: row.state,
      suspension: row.suspension === null ? null : Number(row.suspension),
      keys: row.keys,
    };
  });
}
