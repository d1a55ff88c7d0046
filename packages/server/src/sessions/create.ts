import type { Body, CreatedSession, Operations } from '@millrace/contract';
import type { MintPublicToken } from '../auth/mint.ts';
import { type Environment, type Principal, type UserPrincipal } from '../auth/principal.ts';
import type { Channels } from '../channels/channels.ts';
import { newTimedId } from '../db/ids.ts';
import { sessionChannel } from '../channels/key.ts';
import { jsonOfField } from '../json/levels.ts';
import { Problem } from '../problem.ts';
import { insertRuns } from '../runs/create/insert.ts';
import { findSession } from './find.ts';
import { sessionOf, type SessionRow } from './row.ts';
import { prepareServing, type EnsureServed, type ServeDependencies } from './serve.ts';
import { requireActive } from './state.ts';

type NewSession = Body<Operations['createSession']>;

export interface CreateDependencies extends ServeDependencies {
  readonly channels: Pick<Channels, 'open'>;
  readonly ensureServed: EnsureServed;
  readonly mint: MintPublicToken;
}

const tokenSeconds = 3_600;

/**
 * Creates a session and the run that serves it, in one transaction. If the external id exists, its session continues: its trigger config is
 * replaced, and a run is started if none is live. That session must have the same task (409). `admit` throws if the caller may not act on
 * sessions of the given task.
 */
export async function createSession(
  dependencies: CreateDependencies,
  caller: Exclude<Principal, UserPrincipal>,
  body: NewSession,
  admit: (task: string) => void,
): Promise<CreatedSession> {
  const { environment } = caller;
  admit(body.taskIdentifier);
  const created = await insertSession(dependencies, environment, body);
  const row = created ?? (await resume(dependencies, environment, body, admit));
  const key = row.external_id ?? row.id;
  const publicAccessToken = await dependencies.mint(caller, {
    scopes: [`read:sessions:${key}`, `write:sessions:${key}`],
    expiresInSeconds: tokenSeconds,
  });
  return {
    ...sessionOf(row),
    runId: row.run_id ?? '',
    publicAccessToken: publicAccessToken ?? '',
    isCached: created === undefined,
  };
}

/** Undefined if a session already has this external id. */
async function insertSession(
  { engine, dispatch, channels }: CreateDependencies,
  environment: Environment,
  body: NewSession,
): Promise<SessionRow | undefined> {
  const { sql, clock } = engine;
  const env = environment.id;
  const externalId = body.externalId ?? null;
  if (externalId !== null && (await findSession(sql, env, externalId))) return undefined;
  const id = newTimedId('session', clock.now());
  const { taskIdentifier: task, triggerConfig: config, tags = [], expiresAt = null } = body;
  const metadata = body.metadata === undefined ? null : jsonOfField(body.metadata, 'metadata');
  const storedConfig = jsonOfField(config, 'triggerConfig');
  const run = await prepareServing(engine, environment, { id, task, config });
  const now = new Date(clock.now());
  const row = await sql.begin(async (tx) => {
    const [inserted] = await tx<SessionRow[]>`
      insert into sessions (env, id, external_id, type, task, trigger_config, tags, metadata, run_id, expires_at, created_at, updated_at)
      values (${env}, ${id}, ${externalId}, ${body.type}, ${task}, ${storedConfig}, ${tags}, ${metadata}, ${run.id}, ${expiresAt}, ${now}, ${now})
      on conflict (env, external_id) where external_id is not null do nothing
      returning *`;
    if (!inserted) return undefined;
    const address = externalId ?? id;
    const both = (['in', 'out'] as const).map((io) => ({
      key: sessionChannel(env, address, io),
      session: id,
      expiresAt,
    }));
    await channels.open(both, tx);
    await insertRuns({ sql: tx, clock }, [run]);
    return inserted;
  });
  if (row) dispatch.wake(env);
  return row;
}

async function resume(
  { engine, ensureServed }: CreateDependencies,
  environment: Environment,
  { externalId = '', taskIdentifier: task, triggerConfig }: NewSession,
  admit: (task: string) => void,
): Promise<SessionRow> {
  const { sql, clock } = engine;
  const now = new Date(clock.now());
  // The condition on the task is in the statement, so that a concurrent change cannot bypass it.
  const [row] = await sql<SessionRow[]>`
    update sessions set
           trigger_config = case when closed_at is null and (expires_at is null or expires_at > ${now})
                                 then ${jsonOfField(triggerConfig, 'triggerConfig')}::jsonb else trigger_config end
     where env = ${environment.id} and external_id = ${externalId} and task = ${task} returning *`;
  if (!row) {
    const other = await findSession(sql, environment.id, externalId);
    if (!other) throw new Error('The session no longer exists.');
    admit(other.task);
    throw new Problem(
      'external_id_taken',
      `externalId: the session "${externalId}" belongs to the task "${other.task}", not to "${task}". Use another externalId.`,
      {},
      false,
    );
  }
  requireActive(row, now.getTime(), 409);
  const run = await ensureServed(environment, row.id);
  return { ...row, run_id: run ?? row.run_id };
}
