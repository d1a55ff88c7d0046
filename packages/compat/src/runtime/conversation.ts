import type { Attempt } from './attempt.ts';
import { callApi } from './call-api.ts';

interface Records {
  readonly records: readonly { readonly headers?: readonly (readonly [string, string])[] }[];
}

/**
 * Parts that are only in the first run's payload; later runs have them in the log of the session. The server also omits them for later
 * runs.
 */
const firstOnly = new Set(['message', 'messages', 'trigger']);

/**
 * The payload of an agent. When an attempt's code is executed again because the process that waited for a message is gone, the agent
 * resumes its conversation like a run that takes over from another. If no turn was completed, there is nothing to resume.
 */
export async function conversationPayload(attempt: Attempt, payload: unknown): Promise<unknown> {
  const { ctx } = attempt;
  // One time is from the server's clock and the other from this machine's; only their difference matters.
  const isAgain = ctx.run.startedAt.getTime() !== ctx.attempt.startedAt.getTime();
  if (!isAgain || ctx.attempt.number > 1 || typeof payload !== 'object' || payload === null) return payload;
  const fields = payload as Readonly<Record<string, unknown>>;
  const session = fields['chatId'] ?? fields['sessionId'];
  if (typeof session !== 'string') return payload;
  const path = `/realtime/v1/sessions/${encodeURIComponent(session)}/out/records`;
  const { records } = (await callApi(attempt, path)) as Records;
  const isTurnComplete = records.some(({ headers = [] }) =>
    headers.some(([name, value]) => name === 'trigger-control' && value === 'turn-complete'),
  );
  if (!isTurnComplete) return payload;
  const remaining = Object.entries(fields).filter(([name]) => !firstOnly.has(name));
  return { ...Object.fromEntries(remaining), continuation: true, previousRunId: ctx.run.id };
}
