import { GlyphMark } from './status/glyph.tsx';
import type { Look } from './status/run-status.ts';
import './progress.css';

export interface Portion {
  readonly look: Look;
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
      .map(({ look, count }) => `${count.toLocaleString('en')} ${look.word.toLowerCase()}`)
      .join(', ')} of ${total.toLocaleString('en')}`}
  >
    {portions.map(
      ({ look, count }) =>
        count > 0 && (
          <span
            key={look.word}
            className={`portion tone-${look.tone}`}
            style={{ flexGrow: count, opacity: look.tone === 'quiet' ? 0.55 : 1 }}
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
      .map(({ look, count }) => (
        <span key={look.word} className="portion-word">
          <span className={`tone-${look.tone}`}>
            <GlyphMark glyph={look.glyph} />
          </span>
          {count.toLocaleString('en')} <span className="muted">{look.word.toLowerCase()}</span>
        </span>
      ))}
  </span>
);
