import type { Deployment } from '@millrace/contract';
import type { Badge } from '../../parts/status/run-status.ts';

const badges: Readonly<Record<Deployment['state'], Badge>> = {
  uploading: { word: 'Uploading', glyph: 'half', tone: 'busy' },
  ready: { word: 'Ready', glyph: 'ring', tone: 'quiet' },
  current: { word: 'Current', glyph: 'disc', tone: 'good' },
  draining: { word: 'Draining', glyph: 'quarter', tone: 'waiting' },
  drained: { word: 'Drained', glyph: 'ring', tone: 'quiet' },
  failed: { word: 'Failed', glyph: 'cross', tone: 'bad' },
  archived: { word: 'Archived', glyph: 'slashed', tone: 'quiet' },
};

export const badgeOf = ({ state, canaryPercent }: Pick<Deployment, 'state' | 'canaryPercent'>): Badge =>
  canaryPercent === null
    ? badges[state]
    : { word: `Canary ${canaryPercent} %`, glyph: 'clock', tone: 'busy' };

/** Whether new runs could start on it. */
export const isPromotable = ({ state }: Pick<Deployment, 'state'>): boolean =>
  state === 'ready' || state === 'draining' || state === 'drained';

/** Whether it is older than the current version, so that making it current is a rollback. */
export const isBefore = (
  deployment: Pick<Deployment, 'version'>,
  current: Pick<Deployment, 'version'> | undefined,
): boolean => current !== undefined && compareVersions(deployment.version, current.version) < 0;

/** Versions are a day and a counter: `20261121.10` is later than `20261121.9`. */
export function compareVersions(first: string, second: string): number {
  const [a, b] = [first, second].map((version) => version.split('.').map(Number));
  return (a?.[0] ?? 0) - (b?.[0] ?? 0) || (a?.[1] ?? 0) - (b?.[1] ?? 0);
}
