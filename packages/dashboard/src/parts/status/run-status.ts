import type { RunStatus } from '@millrace/contract';

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'waiting' | 'quiet';
/** Shapes that are distinguishable without color. */
export type Glyph =
  | 'ring'
  | 'half'
  | 'quarter'
  | 'disc'
  | 'cross'
  | 'ringed-cross'
  | 'slashed'
  | 'hourglass'
  | 'clock'
  | 'dotted'
  | 'bolt'
  | 'timer';

export interface Badge {
  readonly word: string;
  readonly glyph: Glyph;
  readonly tone: Tone;
}

/** The word, shape and color of each status. */
export const runStatusBadges: Readonly<Record<RunStatus, Badge>> = {
  PENDING_VERSION: { word: 'Pending version', glyph: 'dotted', tone: 'warn' },
  DELAYED: { word: 'Delayed', glyph: 'clock', tone: 'quiet' },
  QUEUED: { word: 'Queued', glyph: 'ring', tone: 'quiet' },
  DEQUEUED: { word: 'Starting', glyph: 'half', tone: 'busy' },
  EXECUTING: { word: 'Running', glyph: 'half', tone: 'busy' },
  WAITING: { word: 'Waiting', glyph: 'quarter', tone: 'waiting' },
  COMPLETED: { word: 'Completed', glyph: 'disc', tone: 'good' },
  CANCELED: { word: 'Canceled', glyph: 'slashed', tone: 'quiet' },
  FAILED: { word: 'Failed', glyph: 'cross', tone: 'bad' },
  CRASHED: { word: 'Crashed', glyph: 'ringed-cross', tone: 'bad' },
  SYSTEM_FAILURE: { word: 'System failure', glyph: 'bolt', tone: 'bad' },
  EXPIRED: { word: 'Expired', glyph: 'hourglass', tone: 'warn' },
  TIMED_OUT: { word: 'Timed out', glyph: 'timer', tone: 'bad' },
};
