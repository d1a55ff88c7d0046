import type { WaitpointToken } from '@millrace/contract';
import type { Badge } from '../../parts/status/run-status.ts';

export const tokenBadges: Readonly<Record<WaitpointToken['status'], Badge>> = {
  WAITING: { word: 'Waiting', glyph: 'quarter', tone: 'waiting' },
  COMPLETED: { word: 'Completed', glyph: 'disc', tone: 'good' },
  TIMED_OUT: { word: 'Timed out', glyph: 'hourglass', tone: 'warn' },
};
