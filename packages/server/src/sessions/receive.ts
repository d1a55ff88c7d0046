import type { Environment } from '../auth/principal.ts';
import type { ChannelKey } from '../channels/key.ts';
import type { AppendOptions, Appended } from '../channels/pending-append.ts';
import type { NewRecord } from '../channels/record.ts';
import { redactKeysInJson } from '../envvars/redact/key-shapes.ts';
import { parseIfJson, recordLimits } from '../json/foreign.ts';
import type { Log } from '../logger.ts';
import { badRequest } from '../problem.ts';
import type { EndMessageWaits } from '../runs/waits/messages.ts';
import { appendToSession, type AppendDependencies, type Target } from './append.ts';
import type { EnsureServed } from './serve.ts';

export interface ReceiveDependencies extends AppendDependencies {
  readonly ensureServed: EnsureServed;
  readonly endMessageWaits: EndMessageWaits;
  readonly log: Log;
}

/**
 * Appends messages to the `.in` channel of a session. Then starts a run if none is live, and resumes one that waits for messages. If that
 * fails, the messages are still stored, and the session watcher does it later.
 */
export async function receiveMessages(
  dependencies: ReceiveDependencies,
  environment: Environment,
  target: Target,
  records: readonly NewRecord[],
  options: AppendOptions,
): Promise<Appended> {
  const appended = await appendToSession(dependencies, target, records.map(withoutWebhookMark), options);
  const { ensureServed, endMessageWaits, log } = dependencies;
  const came = { env: environment.id, channel: target.key.id, last: appended.end - 1 };
  await Promise.all([ensureServed(environment, target.session.id), endMessageWaits(came)]).catch(
    (error: unknown) => {
      log.warn('session.unserved', { session: target.session.id, error: String(error) });
    },
  );
  return appended;
}

/** Redacts texts in the format of Millrace keys. */
export const withoutKeys = (record: NewRecord): NewRecord => {
  const body = redactKeysInJson(record.body);
  return body === record.body ? record : { ...record, body };
};

const messagesOf = /^s\/in\/[^/]*\/(.*)$/s;

/** Appends to a channel that is only known by its key. Records for an `.in` channel are received as messages. */
export function createWriteStream(dependencies: ReceiveDependencies) {
  const { channels, sessions } = dependencies;
  return async (
    environment: Environment,
    key: ChannelKey,
    records: readonly NewRecord[],
    options: AppendOptions,
  ): Promise<Appended> => {
    const address = messagesOf.exec(key.name)?.[1];
    if (address === undefined) return channels.append(key, records.map(withoutKeys), options);
    if (records.some(({ headers }) => headers?.[0]?.[0] === '')) {
      throw badRequest('Commands such as trim apply to the output of a task, not to messages sent to it.');
    }
    const session = await sessions.find(environment.id, address);
    // The channel does not exist either, so the append is rejected.
    if (!session) return channels.append(key, records, options);
    return receiveMessages(dependencies, environment, { session, key, isSide: false }, records, options);
  };
}

/** Removes the mark of a message from a webhook, which only the server may set. */
function withoutWebhookMark(record: NewRecord): NewRecord {
  if (!/webhook|\\u/.test(record.body)) return record;
  const envelope = parsed(record.body) as { data?: unknown } | null | undefined;
  const text = envelope?.data;
  const message = (typeof text === 'string' ? parsed(text) : text) as Marked;
  if (message?.payload?.actionSource !== 'webhook') return record;
  delete message.payload.actionSource;
  const data = typeof text === 'string' ? JSON.stringify(message) : message;
  return { ...record, body: JSON.stringify({ ...envelope, data }) };
}

type Marked = { payload?: { actionSource?: unknown } } | null | undefined;

/** Undefined for a text that is not JSON. Rejects one that exceeds a limit, because its mark could not be removed. */
const parsed = (text: string): unknown => parseIfJson(text, undefined, recordLimits);
