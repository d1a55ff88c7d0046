import type { SessionTriggerConfig } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { groupCommit } from '../db/group.ts';
import type { Dispatch } from '../runs/dispatch/dispatch.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { prepareRun } from '../runs/create/prepare.ts';
import type { NewRun } from '../runs/create/row.ts';
import { insertRuns } from '../runs/create/insert.ts';
import type { SessionRow } from './row.ts';

export interface ServeDependencies {
  readonly engine: Engine;
  readonly dispatch: Pick<Dispatch, 'wake'>;
}

export interface Serving {
  readonly id: string;
  readonly task: string;
  readonly config: SessionTriggerConfig;
}

/** Prepares the run that will serve a session. `previous` is the run that served it before. */
export async function prepareServing(
  engine: Engine,
  environment: Environment,
  { id, task, config }: Serving,
  previous?: string | null,
): Promise<NewRun> {
  const { basePayload, idleTimeoutInSeconds, queue, region: _, ...options } = config;
  const payload: Record<string, unknown> = {
    ...basePayload,
    ...(idleTimeoutInSeconds !== undefined && { idleTimeoutInSeconds }),
    sessionId: id,
  };
  if (previous != null) {
    // The log contains the messages that the first run received.
    for (const name of ['message', 'messages', 'trigger']) delete payload[name];
    Object.assign(payload, { continuation: true, previousRunId: previous });
  }
  const body = { payload, options: { ...options, ...(queue !== undefined && { queue: { name: queue } }) } };
  return prepareRun(engine, environment, task, body, { isWhole: true });
}

export const servingOf = (row: Pick<SessionRow, 'id' | 'task' | 'trigger_config'>): Serving => ({
  id: row.id,
  task: row.task,
  config: row.trigger_config,
});

/** Replaces `previous` with a new run, in one transaction; undefined if another run replaced it, or the session has ended. */
export async function replaceRun(
  { engine, dispatch }: ServeDependencies,
  environment: Environment,
  row: Pick<SessionRow, 'id' | 'task' | 'trigger_config'>,
  previous: string | null,
): Promise<string | undefined> {
  const { sql, clock } = engine;
  const run = await prepareServing(engine, environment, servingOf(row), previous);
  const now = new Date(clock.now());
  const isReplaced = await sql.begin(async (tx) => {
    // Only one of several concurrent callers changes the row. The others wait for its lock and then match nothing.
    const { count } = await tx`
      update sessions set run_id = ${run.id}, updated_at = ${now}
       where env = ${environment.id} and id = ${row.id} and run_id is not distinct from ${previous}
         and closed_at is null and (expires_at is null or expires_at > ${now})`;
    if (count === 1) await insertRuns({ sql: tx, clock }, [run]);
    return count === 1;
  });
  if (!isReplaced) return undefined;
  dispatch.wake(environment.id);
  return run.id;
}

export type EnsureServed = (environment: Environment, session: string) => Promise<string | undefined>;

interface Address {
  readonly env: number;
  readonly id: string;
}

interface ServedState extends Pick<SessionRow, 'id' | 'task' | 'trigger_config' | 'run_id'> {
  readonly ended: boolean;
}

/**
 * Ensures that a live run serves a session, and resolves with its id: that of the current run, or of a new one if that has ended. Undefined if
 * the session has ended. Concurrent calls share a query.
 */
export function createEnsureServed(dependencies: ServeDependencies): EnsureServed {
  const { sql } = dependencies.engine;
  const fetchState = groupCommit<Address, ServedState | undefined>(async (addresses) => {
    const rows = await sql<(ServedState & { position: number })[]>`
      select i.position::int as position, s.id, s.run_id, coalesce(r.status is not null, true) as ended,
             case when coalesce(r.status is not null, true) then s.task end as task,
             case when coalesce(r.status is not null, true) then s.trigger_config end as trigger_config
        from unnest(${addresses.map(({ env }) => env)}::int[], ${addresses.map(({ id }) => id)}::text[]) with ordinality as i (env, id, position)
        join sessions s on s.env = i.env and s.id = i.id
        left join runs r on r.env = s.env and r.id = s.run_id`;
    const found: (ServedState | undefined)[] = addresses.map(() => undefined);
    for (const row of rows) found[row.position - 1] = row;
    return found;
  });
  const replacing = new Map<string, Promise<string | undefined>>();

  return async (environment, session) => {
    const state = await fetchState({ env: environment.id, id: session });
    if (!state || !state.ended) return state?.run_id ?? undefined;
    const key = `${environment.id} ${session} ${state.run_id ?? ''}`;
    let replaced = replacing.get(key);
    if (!replaced) {
      replaced = replaceRun(dependencies, environment, state, state.run_id).finally(() =>
        replacing.delete(key),
      );
      replacing.set(key, replaced);
    }
    const run = await replaced;
    if (run !== undefined) return run;
    // Another process replaced the run first, or the session has ended.
    const current = await fetchState({ env: environment.id, id: session });
    return current?.ended ? undefined : (current?.run_id ?? undefined);
  };
}
