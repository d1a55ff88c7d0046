import type { RunStatus } from '@millrace/contract';
import { GlyphMark } from './glyph.tsx';
import { runStatusLooks, type Look } from './run-status.ts';
import './status.css';

/** A word with a shape and a color, for objects other than runs. */
export const Mark = ({ look, compact = false }: { readonly look: Look; readonly compact?: boolean }) => (
  <span className={`status tone-${look.tone}`} title={compact ? look.word : undefined}>
    <GlyphMark glyph={look.glyph} />
    {compact ? <span className="hidden-text">{look.word}</span> : <span className="cut">{look.word}</span>}
  </span>
);

const unknown: Look = { word: 'Unknown', glyph: 'dotted', tone: 'quiet' };

/** The status of a run. `compact`: only the shape, with the word for screen readers. */
export const Status = ({
  status,
  compact = false,
}: {
  readonly status: RunStatus;
  readonly compact?: boolean;
}) => <Mark look={runStatusLooks[status] ?? unknown} compact={compact} />;
