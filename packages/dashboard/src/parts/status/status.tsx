import type { RunStatus } from '@millrace/contract';
import { GlyphMark } from './glyph.tsx';
import { runStatusBadges, type Badge } from './run-status.ts';
import './status.css';

/** A word with a shape and a color, for objects other than runs. */
export const Mark = ({ badge, compact = false }: { readonly badge: Badge; readonly compact?: boolean }) => (
  <span className={`status tone-${badge.tone}`} title={compact ? badge.word : undefined}>
    <GlyphMark glyph={badge.glyph} />
    {compact ? <span className="hidden-text">{badge.word}</span> : <span className="cut">{badge.word}</span>}
  </span>
);

const unknown: Badge = { word: 'Unknown', glyph: 'dotted', tone: 'quiet' };

/** The status of a run. `compact`: only the shape, with the word for screen readers. */
export const Status = ({
  status,
  compact = false,
}: {
  readonly status: RunStatus;
  readonly compact?: boolean;
}) => <Mark badge={runStatusBadges[status] ?? unknown} compact={compact} />;
