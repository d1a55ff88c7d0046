import type { BulkAction } from '@millrace/contract';
import type { Portion } from '../../parts/progress.tsx';
import type { Badge } from '../../parts/status/run-status.ts';

export const bulkBadges: Readonly<Record<BulkAction['status'], Badge>> = {
  PENDING: { word: 'Working', glyph: 'half', tone: 'busy' },
  COMPLETED: { word: 'Completed', glyph: 'disc', tone: 'good' },
  ABORTED: { word: 'Stopped', glyph: 'slashed', tone: 'warn' },
};

/** Cancelling and replaying fail for different reasons. */
export const failureWords: Readonly<Record<BulkAction['type'], string>> = {
  CANCEL: 'Already ended',
  REPLAY: 'Could not be replayed',
};

export const verbs: Readonly<Record<BulkAction['type'], { readonly now: string; readonly past: string }>> = {
  CANCEL: { now: 'Cancel', past: 'Canceled' },
  REPLAY: { now: 'Replay', past: 'Replayed' },
};

export const portionsOf = ({ type, counts }: BulkAction): readonly Portion[] => [
  { badge: { word: verbs[type].past, glyph: 'disc', tone: 'good' }, count: counts.success },
  { badge: { word: failureWords[type], glyph: 'slashed', tone: 'warn' }, count: counts.failure },
];

export const doneOf = ({ counts }: Pick<BulkAction, 'counts'>): number => counts.success + counts.failure;
