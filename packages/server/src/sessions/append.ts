import { randomUUID } from 'node:crypto';
import type { Channels } from '../channels/channels.ts';
import type { ChannelKey } from '../channels/key.ts';
import type { AppendOptions, Appended } from '../channels/pending-append.ts';
import type { NewRecord } from '../channels/record.ts';
import { AppendRefused } from '../channels/refused.ts';
import { badRequest, notFound } from '../problem.ts';
import type { KnownSession, SessionChannels } from './channel.ts';

export interface AppendDependencies {
  readonly channels: Channels;
  readonly sessions: SessionChannels;
}

export interface Target {
  readonly session: KnownSession;
  readonly key: ChannelKey;
  /** A side channel is created on its first write. */
  readonly isSide: boolean;
}

const maxPartIdLength = 128;

export function readPartId(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  if (text.length > maxPartIdLength)
    throw badRequest(`The header X-Part-Id has at most ${maxPartIdLength} characters.`);
  return text;
}

/** The record for a text. Readers get the text as `data`. */
export function recordOfText(text: string, partId: string | undefined): NewRecord {
  if (text.includes('\u0000')) {
    throw badRequest('The request contains a character that cannot be stored (U+0000).');
  }
  const id = partId ?? randomUUID();
  return { body: JSON.stringify({ data: text, id }), id };
}

/** Appends to a channel of a session. A rejection has the status and message documented for the session API. */
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
    // A side channel is not created if the session is closed.
    if (reason === 'closed' || (isSide && reason === 'missing'))
      throw badRequest('Cannot append to a closed session');
    if (reason === 'expired') throw badRequest('Cannot append to an expired session');
    if (reason === 'missing') throw notFound('Session not found', false, 'session_not_found');
    throw error;
  }
}
