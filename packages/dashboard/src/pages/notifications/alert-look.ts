import type { Alert } from '@millrace/contract';
import type { Look } from '../../parts/status/run-status.ts';

const firing: Look = { word: 'Firing', glyph: 'bolt', tone: 'bad' };
const quiet: Look = { word: 'OK', glyph: 'disc', tone: 'good' };
const off: Look = { word: 'Off', glyph: 'slashed', tone: 'quiet' };

export const alertLook = ({ state, enabled }: Alert): Look =>
  !enabled ? off : state === 'FIRING' ? firing : quiet;
