import type { Body, Operations, Reply } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { sessionChannel } from '../channels/key.ts';
import { closeChannels } from '../channels/open.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { endMessageWaits, noneToCome } from '../runs/waits/messages.ts';
import { jsonOfField } from '../json/levels.ts';
import { notFound, unprocessable } from '../problem.ts';
import type { SessionRow } from './row.ts';
import { replaceRun, type ServeDependencies } from './serve.ts';
import { requireActive } from './state.ts';

/** Replaces tags and metadata. Omitted fields are unchanged. */
export async function updateSession(
  { sql, clock }: Engine,
  row: SessionRow,
  body: Body<Operations['updateSession']>,
): Promise<SessionRow> {
  const { tags, metadata, externalId } = body;
  if (externalId !== undefined && externalId !== row.external_id) {
    throw unprocessable('externalId: cannot be changed. Leave it out.');
  }
  const [updated] = await sql<SessionRow[]>`
    update sessions set
           tags = coalesce(${tags ?? null}::text[], tags),
           metadata = case when ${metadata === undefined} then metadata
                           else ${metadata === undefined || metadata === null ? null : jsonOfField(metadata, 'metadata')}::text end,
           updated_at = ${new Date(clock.now())}
     where env = ${row.env} and id = ${row.id} returning *`;
  return updated ?? row;
}

export interface CloseDependencies extends ServeDependencies {
  /** Called when suspended runs of this environment may continue. */
  readonly resume: (env: number) => void;
}

/** Closes a session and its channels and ends the waits for its messages. Closing it again changes nothing. */
export async function closeSession(
  { engine: { sql, clock }, dispatch, resume }: CloseDependencies,
  { env, id }: SessionRow,
  reason: string | null,
): Promise<SessionRow> {
  let resumable: readonly number[] = [];
  const row = await sql.begin(async (tx) => {
    // Lock order: the session before its channels.
    const [open] = await tx<SessionRow[]>`
      select * from sessions where env = ${env} and id = ${id} for update`;
    if (!open) throw notFound('Session not found', false, 'session_not_found');
    if (open.closed_at) return open;
    const at = await closeChannels(tx, env, id, clock.now);
    const [closed] = await tx<SessionRow[]>`
      update sessions set closed_at = ${at}, closed_reason = ${reason}, updated_at = ${at}
       where env = ${env} and id = ${id} returning *`;
    const messages = sessionChannel(env, open.external_id ?? id, 'in');
    resumable = await endMessageWaits(tx, at, [{ env, channel: messages.id, last: noneToCome }]);
    return closed as SessionRow;
  });
  if (resumable.length > 0) {
    resume(env);
    dispatch.wake(env);
  }
  return row;
}

/** Starts a run that serves the session instead of the calling one, if that one still serves it. */
export async function continueSession(
  dependencies: ServeDependencies,
  environment: Environment,
  row: SessionRow,
  callingRunId: string,
): Promise<Reply<Operations['continueSession']>> {
  requireActive(row, dependencies.engine.clock.now(), 400);
  const run =
    row.run_id === callingRunId ? await replaceRun(dependencies, environment, row, row.run_id) : undefined;
  if (run !== undefined) return { runId: run, swapped: true };
  const [now] = await dependencies.engine.sql<SessionRow[]>`
    select * from sessions where env = ${row.env} and id = ${row.id}`;
  if (now) requireActive(now, dependencies.engine.clock.now(), 400);
  return { runId: now?.run_id ?? '', swapped: false };
}
