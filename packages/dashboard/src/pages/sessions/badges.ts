import type { ListedSession } from '@millrace/contract';
import type { Badge } from '../../parts/status/run-status.ts';

const open: Badge = { word: 'Open', glyph: 'quarter', tone: 'good' };
const closed: Badge = { word: 'Closed', glyph: 'slashed', tone: 'quiet' };
const expired: Badge = { word: 'Expired', glyph: 'hourglass', tone: 'warn' };

export const isExpired = ({ expiresAt }: Pick<ListedSession, 'expiresAt'>): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= Date.now();

export const badgeOfSession = (session: ListedSession): Badge =>
  session.closedAt !== null ? closed : isExpired(session) ? expired : open;
