import type { SessionTriggerConfig } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { groupCommit } from '../db/group.ts';
import type { Dispatch } from '../runs/dispatch/dispatch.ts';
import type { Engine } from '../runs/engine.ts';
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

/** The run that is to serve a session, ready to be inserted. `previous` is the one that served it before. */
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
    // What the first run was given has been said; the log has it.
    for (const name of ['message', 'messages', 'trigger']) delete payload[name];
    Object.assign(payload, { continuation: true, previousRunId: previous });
  }
  return prepareRun(engine, environment, task, {
    payload,
    options: { ...options, ...(queue !== undefined && { queue: { name: queue } }) },
  });
}

export const servingOf = (row: Pick<SessionRow, 'id' | 'task' | 'trigger_config'>): Serving => ({
  id: row.id,
  task: row.task,
  config: row.trigger_config,
});

/** Puts a new run in the place of `previous`, in one transaction; undefined if another run took it, or the session has ended. */
export async function replaceRun(
  { engine, dispatch }: ServeDependencies,
  environment: Environment,
  row: Pick<SessionRow, 'id' | 'task' | 'trigger_config'>,
  previous: string | null,
): Promise<string | undefined> {
  const { sql, clock } = engine;
  const run = await prepareServing(engine, environment, servingOf(row), previous);
  const now = new Date(clock.now());
  const taken = await sql.begin(async (tx) => {
    // Of any number of callers one changes the row; the others wait for it and find it changed.
    const { count } = await tx`
      update sessions set run_id = ${run.id}, updated_at = ${now}
       where env = ${environment.id} and id = ${row.id} and run_id is not distinct from ${previous}
         and closed_at is null and (expires_at is null or expires_at > ${now})`;
    if (count === 1) await insertRuns({ sql: tx, clock }, [run]);
    return count === 1;
  });
  if (!taken) return undefined;
  dispatch.wake(environment.id);
  return run.id;
}

export type EnsureServed = (environment: Environment, session: string) => Promise<string | undefined>;

interface Look {
  readonly env: number;
  readonly id: string;
}

interface Looked extends Pick<SessionRow, 'id' | 'task' | 'trigger_config' | 'run_id'> {
  readonly ended: boolean;
}

/**
 * Makes sure that a live run serves a session, and answers its id: that of the present one, or of a new one if that has ended.
 * Undefined if the session itself has ended. Calls that come together share a look at the database.
 */
export function createEnsureServed(dependencies: ServeDependencies): EnsureServed {
  const { sql } = dependencies.engine;
  const look = groupCommit<Look, Looked | undefined>(async (looks) => {
    const rows = await sql<(Looked & { place: number })[]>`
      select i.place::int as place, s.id, s.run_id, coalesce(r.status is not null, true) as ended,
             case when coalesce(r.status is not null, true) then s.task end as task,
             case when coalesce(r.status is not null, true) then s.trigger_config end as trigger_config
        from unnest(${looks.map(({ env }) => env)}::int[], ${looks.map(({ id }) => id)}::text[]) with ordinality as i (env, id, place)
        join sessions s on s.env = i.env and s.id = i.id
        left join runs r on r.env = s.env and r.id = s.run_id`;
    const found: (Looked | undefined)[] = looks.map(() => undefined);
    for (const row of rows) found[row.place - 1] = row;
    return found;
  });
  const replacing = new Map<string, Promise<string | undefined>>();

  return async (environment, session) => {
    const seen = await look({ env: environment.id, id: session });
    if (!seen || !seen.ended) return seen?.run_id ?? undefined;
    const key = `${environment.id} ${session} ${seen.run_id ?? ''}`;
    let replaced = replacing.get(key);
    if (!replaced) {
      replaced = replaceRun(dependencies, environment, seen, seen.run_id).finally(() =>
        replacing.delete(key),
      );
      replacing.set(key, replaced);
    }
    const run = await replaced;
    if (run !== undefined) return run;
    // Somebody else was first, or the session has ended.
    const again = await look({ env: environment.id, id: session });
    return again?.ended ? undefined : (again?.run_id ?? undefined);
  };
}
