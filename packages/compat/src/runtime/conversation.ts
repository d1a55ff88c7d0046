import type { Attempt } from './attempt.ts';
import { callApi } from './call-api.ts';

interface Records {
  readonly records: readonly { readonly headers?: readonly (readonly [string, string])[] }[];
}

/** What is in the payload of the first run only: the log of the session has it. As the server leaves it out for a later run. */
const firstOnly = new Set(['message', 'messages', 'trigger']);

/**
 * The payload of an agent. When the code of an attempt runs again, because the process that waited for a message is gone, the agent resumes
 * its conversation as a run does that takes over from another. It has no turn to resume after when none was completed.
 */
export async function conversationPayload(attempt: Attempt, payload: unknown): Promise<unknown> {
  const { ctx } = attempt;
  // By the clock of the server and that of this machine: only whether they differ counts.
  const isAgain = ctx.run.startedAt.getTime() !== ctx.attempt.startedAt.getTime();
  if (!isAgain || ctx.attempt.number > 1 || typeof payload !== 'object' || payload === null) return payload;
  const given = payload as Readonly<Record<string, unknown>>;
  const session = given['chatId'] ?? given['sessionId'];
  if (typeof session !== 'string') return payload;
  const path = `/realtime/v1/sessions/${encodeURIComponent(session)}/out/records`;
  const { records } = (await callApi(attempt, path)) as Records;
  const isTurnComplete = records.some(({ headers = [] }) =>
    headers.some(([name, value]) => name === 'trigger-control' && value === 'turn-complete'),
  );
  if (!isTurnComplete) return payload;
  const kept = Object.entries(given).filter(([name]) => !firstOnly.has(name));
  return { ...Object.fromEntries(kept), continuation: true, previousRunId: ctx.run.id };
}
