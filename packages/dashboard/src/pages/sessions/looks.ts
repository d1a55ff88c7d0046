import type { ListedSession } from '@millrace/contract';
import type { Look } from '../../parts/status/run-status.ts';

const open: Look = { word: 'Open', glyph: 'quarter', tone: 'good' };
const closed: Look = { word: 'Closed', glyph: 'slashed', tone: 'quiet' };
const expired: Look = { word: 'Expired', glyph: 'hourglass', tone: 'warn' };

export const isExpired = ({ expiresAt }: Pick<ListedSession, 'expiresAt'>): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= Date.now();

export const lookOfSession = (session: ListedSession): Look =>
  session.closedAt !== null ? closed : isExpired(session) ? expired : open;
