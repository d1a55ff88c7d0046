import type { EventStatus } from '@millrace/contract';
import type { Badge } from '../../parts/status/run-status.ts';

export const eventBadges: Readonly<Record<EventStatus, Badge>> = {
  PENDING: { word: 'Scheduled', glyph: 'clock', tone: 'quiet' },
  DELIVERED: { word: 'Delivered', glyph: 'disc', tone: 'good' },
  UNMATCHED: { word: 'Unmatched', glyph: 'ring', tone: 'warn' },
  CANCELED: { word: 'Canceled', glyph: 'slashed', tone: 'quiet' },
  FAILED: { word: 'Failed', glyph: 'cross', tone: 'bad' },
};
