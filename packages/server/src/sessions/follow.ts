import type { Channels } from '../channels/channels.ts';
import type { Framing } from '../channels/sse/record-frames.ts';
import type { ChannelKey, Io } from '../channels/key.ts';
import { subscribe } from '../channels/sse/subscribe.ts';
import { badRequest } from '../problem.ts';
import type { Request, Streaming } from '../request.ts';
import type { EventStreams } from '../channels/sse/event-streams.ts';

export interface FollowDependencies {
  readonly channels: Channels;
  readonly streams: EventStreams;
}

type Asking = Pick<Request<never>, 'header' | 'setHeader'>;

const defaultIdleSeconds = 60;
const maxIdleSeconds = 600;
/** The idle time of a stream whose turn is complete, since a record may be about to arrive. */
const turnCompleteIdleMs = 1_000;

/** Follows a channel from the record named in the request's headers. */
export async function followChannel(
  { channels, streams }: FollowDependencies,
  request: Asking,
  key: ChannelKey,
  subject: string,
  io: Io,
  /** Default: the framing in the request. */
  framing = readFraming(request.header('x-stream-version')),
): Promise<Streaming> {
  const lastEventId = readLastEventId(request.header('last-event-id'));
  const idleMs = readTimeout(request.header('timeout-seconds')) * 1_000;
  const peeks = io === 'out' && request.header('x-peek-settled') === '1';
  streams.admit(request, key.env, subject);
  const from = await channels.cursorFor(key, lastEventId);
  const isComplete = peeks && (await isTurnComplete(channels, key));
  return subscribe(channels, streams, {
    key,
    subject,
    from,
    framing,
    idleMs: isComplete ? Math.min(idleMs, turnCompleteIdleMs) : idleMs,
    headers: isComplete ? { 'x-session-settled': 'true' } : {},
  });
}

/** The number of the first record to send. The id of a batch is its last number, optionally followed by a comma or dash and more data. */
export function readLastEventId(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  const [, digits] = /^(\d+)(?:[-,].*)?$/.exec(text) ?? [];
  if (digits === undefined)
    throw badRequest('Last-Event-ID: must be the number of the last record received.');
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER - 1) + 1;
}

export function readTimeout(text: string | undefined): number {
  if (text === undefined || text === '') return defaultIdleSeconds;
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= maxIdleSeconds) return seconds;
  throw badRequest(`Timeout-Seconds: must be a whole number from 1 to ${maxIdleSeconds}.`);
}

function readFraming(text: string | undefined): Framing {
  if (text === undefined || text === '' || text === 'v2') return 'v2';
  if (text === 'v1') return 'v1';
  throw badRequest('X-Stream-Version: must be v1 or v2.');
}

/** Whether no record is currently expected, because the last record marks the task's turn as complete or the session is closed. */
async function isTurnComplete(channels: Channels, key: ChannelKey): Promise<boolean> {
  const end = await channels.tail(key);
  if (end?.closed) return true;
  if (!end || end.tail === 0) return false;
  const { records } = await channels.read(key, end.tail - 1, 1);
  const headers = records[0]?.headers ?? [];
  return headers.some(([name, value]) => name === 'trigger-control' && value === 'turn-complete');
}
