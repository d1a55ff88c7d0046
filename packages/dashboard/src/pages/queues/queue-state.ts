import type { Queue } from '@millrace/contract';
import type { Badge } from '../../parts/status/run-status.ts';

/** The current state of a queue as a word with a shape and a color. */
export function queueBadge({ paused, queued, running, concurrencyLimit, rateLimit }: Queue): Badge {
  if (paused) return { word: 'Paused', glyph: 'slashed', tone: 'warn' };
  if (concurrencyLimit === 0) return { word: 'Limit is 0', glyph: 'slashed', tone: 'warn' };
  if (queued > 0 && concurrencyLimit !== null && running >= concurrencyLimit)
    return { word: 'At its limit', glyph: 'quarter', tone: 'waiting' };
  if (queued > 0 && rateLimit.available === 0)
    return { word: 'At its rate limit', glyph: 'quarter', tone: 'waiting' };
  if (running > 0) return { word: 'Running', glyph: 'disc', tone: 'good' };
  if (queued > 0) return { word: 'Waiting', glyph: 'ring', tone: 'quiet' };
  return { word: 'Idle', glyph: 'dotted', tone: 'quiet' };
}
