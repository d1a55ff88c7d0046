import type { ListedBatch } from '@millrace/contract';
import type { Portion } from '../../parts/progress.tsx';
import { runStatusBadges, type Badge } from '../../parts/status/run-status.ts';

const filling: Badge = { word: 'Filling', glyph: 'quarter', tone: 'waiting' };
const running: Badge = { word: 'Running', glyph: 'half', tone: 'busy' };
const completed: Badge = { word: 'Completed', glyph: 'disc', tone: 'good' };
const withFailures: Badge = { word: 'With failures', glyph: 'cross', tone: 'bad' };
const abandoned: Badge = { word: 'Never filled', glyph: 'hourglass', tone: 'warn' };

/** Pending in the API has two meanings: missing items, or unfinished runs. */
export function badgeOfBatch({ status, received, runCount, counts }: ListedBatch): Badge {
  if (status === 'ABORTED') return abandoned;
  if (status !== 'PENDING') return counts.failed > 0 ? withFailures : completed;
  return received < runCount ? filling : running;
}

export const portionsOf = ({ counts }: Pick<ListedBatch, 'counts'>): readonly Portion[] => [
  { badge: runStatusBadges.COMPLETED, count: counts.completed },
  { badge: runStatusBadges.FAILED, count: counts.failed },
  { badge: { word: 'Canceled or expired', glyph: 'slashed', tone: 'quiet' }, count: counts.ended },
];
