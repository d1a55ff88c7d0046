import type { ListedBatch } from '@millrace/contract';
import type { Portion } from '../../parts/progress.tsx';
import { runStatusLooks, type Look } from '../../parts/status/run-status.ts';

const filling: Look = { word: 'Filling', glyph: 'quarter', tone: 'held' };
const running: Look = { word: 'Running', glyph: 'half', tone: 'busy' };
const completed: Look = { word: 'Completed', glyph: 'disc', tone: 'good' };
const withFailures: Look = { word: 'With failures', glyph: 'cross', tone: 'bad' };
const abandoned: Look = { word: 'Never filled', glyph: 'hourglass', tone: 'warn' };

/** Pending in the API has two meanings: missing items, or unfinished runs. */
export function lookOfBatch({ status, received, runCount, counts }: ListedBatch): Look {
  if (status === 'ABORTED') return abandoned;
  if (status !== 'PENDING') return counts.failed > 0 ? withFailures : completed;
  return received < runCount ? filling : running;
}

export const portionsOf = ({ counts }: Pick<ListedBatch, 'counts'>): readonly Portion[] => [
  { look: runStatusLooks.COMPLETED, count: counts.completed },
  { look: runStatusLooks.FAILED, count: counts.failed },
  { look: { word: 'Canceled or expired', glyph: 'slashed', tone: 'quiet' }, count: counts.ended },
];
