import { GlyphMark } from './status/glyph.tsx';
import type { Badge } from './status/run-status.ts';
import './progress.css';

export interface Portion {
  readonly badge: Badge;
  readonly count: number;
}

interface PortionBarProps {
  /** For screen readers: "Runs by status". */
  readonly label: string;
  readonly total: number;
  /** In order. The rest of the total is not done. */
  readonly portions: readonly Portion[];
}

/** The completed part of a total, by outcome. */
export const PortionBar = ({ label, total, portions }: PortionBarProps) => (
  <span
    className="portions"
    role="img"
    aria-label={`${label}: ${portions
      .filter(({ count }) => count > 0)
      .map(({ badge, count }) => `${count.toLocaleString('en')} ${badge.word.toLowerCase()}`)
      .join(', ')} of ${total.toLocaleString('en')}`}
  >
    {portions.map(
      ({ badge, count }) =>
        count > 0 && (
          <span
            key={badge.word}
            className={`portion tone-${badge.tone}`}
            style={{ flexGrow: count, opacity: badge.tone === 'quiet' ? 0.55 : 1 }}
          />
        ),
    )}
    <span
      className="portion is-left"
      style={{ flexGrow: Math.max(0, total - portions.reduce((sum, { count }) => sum + count, 0)) }}
    />
  </span>
);

/** The same in words, with the shape of each. */
export const PortionWords = ({ portions }: Pick<PortionBarProps, 'portions'>) => (
  <span className="row wrap portion-words number">
    {portions
      .filter(({ count }) => count > 0)
      .map(({ badge, count }) => (
        <span key={badge.word} className="portion-word">
          <span className={`tone-${badge.tone}`}>
            <GlyphMark glyph={badge.glyph} />
          </span>
          {count.toLocaleString('en')} <span className="muted">{badge.word.toLowerCase()}</span>
        </span>
      ))}
  </span>
);
