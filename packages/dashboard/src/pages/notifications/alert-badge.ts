import type { Alert } from '@millrace/contract';
import type { Badge } from '../../parts/status/run-status.ts';

const firing: Badge = { word: 'Firing', glyph: 'bolt', tone: 'bad' };
const quiet: Badge = { word: 'OK', glyph: 'disc', tone: 'good' };
const off: Badge = { word: 'Off', glyph: 'slashed', tone: 'quiet' };

export const alertBadge = ({ state, enabled }: Alert): Badge =>
  !enabled ? off : state === 'FIRING' ? firing : quiet;
