import type { ErrorStatus } from '@millrace/contract';
import type { Badge } from '../../parts/status/run-status.ts';

/** The word, shape and color of each state of an error group. */
export const errorBadges: Readonly<Record<ErrorStatus, Badge>> = {
  unresolved: { word: 'Unresolved', glyph: 'cross', tone: 'bad' },
  resolved: { word: 'Resolved', glyph: 'disc', tone: 'good' },
  ignored: { word: 'Ignored', glyph: 'slashed', tone: 'quiet' },
};
