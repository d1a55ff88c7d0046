import { randomUUID } from 'node:crypto';
import { appendBodyLimit } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import type { AppendOptions, Appended } from '../channels/append.ts';
import type { Channels } from '../channels/channels.ts';
import type { ChannelKey } from '../channels/key.ts';
import type { NewRecord } from '../channels/record.ts';
import { AppendRefused } from '../channels/refused.ts';
import type { Log } from '../log.ts';
import { badRequest, notFound, Problem } from '../problem.ts';
import type { Known, SessionChannels } from './channel.ts';
import type { EnsureServed } from './serve.ts';

export interface AppendDependencies {
  readonly channels: Channels;
  readonly sessions: SessionChannels;
  readonly ensureServed: EnsureServed;
  readonly log: Log;
}

export interface Target {
  readonly session: Known;
  readonly key: ChannelKey;
  /** A side channel comes to be when it is first written. */
  readonly isSide: boolean;
}

const longestPartId = 128;

export function readPartId(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  if (text.length > longestPartId)
    throw appendFailed(400, `The header X-Part-Id has at most ${longestPartId} characters.`);
  return text;
}

/** The record of a text: readers get the text back as `data`. */
export function recordOfText(text: string, partId: string | undefined): NewRecord {
  if (text.includes('\u0000')) {
    throw badRequest('The request contains a character that cannot be stored (U+0000).');
  }
  if (Buffer.byteLength(text) > appendBodyLimit) throw appendFailed(413, 'Request body too large');
  const id = partId ?? randomUUID();
  return { body: JSON.stringify({ data: text, id }), id };
}

/** Only the server itself may say of a message that it came by a webhook. */
export function withoutWebhookMark(text: string): string {
  if (!/webhook|\\u/.test(text)) return text;
  const message = parsed(text) as { payload?: { actionSource?: unknown } } | null | undefined;
  if (message?.payload?.actionSource !== 'webhook') return text;
  delete message.payload.actionSource;
  // Nested too deeply it throws: to let such a one pass would be to let its mark pass.
  return JSON.stringify(message);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Appends to a channel of a session, in the words of its clients where that is refused. */
export async function appendToSession(
  { channels, sessions }: AppendDependencies,
  { session, key, isSide }: Target,
  records: readonly NewRecord[],
  options: AppendOptions,
): Promise<Appended> {
  try {
    return await channels.append(key, records, options).catch(async (error: unknown) => {
      if (!isSide || !(error instanceof AppendRefused) || error.reason !== 'missing') throw error;
      await sessions.openSide(session, key);
      return channels.append(key, records, options);
    });
  } catch (error) {
    if (!(error instanceof AppendRefused)) throw error;
    const { reason } = error;
    // A side channel that could not be made is one of a closed session.
    if (reason === 'closed' || (isSide && reason === 'missing'))
      throw appendFailed(400, 'Cannot append to a closed session');
    if (reason === 'expired') throw appendFailed(400, 'Cannot append to an expired session');
    if (reason === 'missing') throw notFound('Session not found');
    throw error;
  }
}

const appendFailed = (status: number, message: string) => new Problem(status, message, { ok: false });

/** A message that came is a reason to be served. It is stored whether or not a run can be started for it. */
export async function wakeSession(
  { ensureServed, log }: AppendDependencies,
  environment: Environment,
  session: Known,
): Promise<void> {
  try {
    await ensureServed(environment, session.id);
  } catch (error) {
    log.warn('session.unserved', { session: session.id, error: String(error) });
  }
}
