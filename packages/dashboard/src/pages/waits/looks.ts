import type { WaitpointToken } from '@millrace/contract';
import type { Look } from '../../parts/status/run-status.ts';

export const tokenLooks: Readonly<Record<WaitpointToken['status'], Look>> = {
  WAITING: { word: 'Waiting', glyph: 'quarter', tone: 'held' },
  COMPLETED: { word: 'Completed', glyph: 'disc', tone: 'good' },
  TIMED_OUT: { word: 'Timed out', glyph: 'hourglass', tone: 'warn' },
};
