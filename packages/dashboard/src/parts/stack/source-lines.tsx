import { useAsk } from '../../api/ask.ts';
import { visibleControls } from '../json/visible-controls.ts';

interface SourceLinesProps {
  readonly version: string;
  readonly file: string;
  readonly line: number;
  /** If there are no lines, shows nothing instead of the reason. */
  readonly isQuiet: boolean;
}

/** The source lines around a position in the version. */
export function SourceLines({ version, file, line, isQuiet }: SourceLinesProps) {
  const source = useAsk(
    'retrieveSource',
    { params: { version }, query: { file, line } },
    { isConstant: true, keepPrevious: false },
  );
  const { lines = [], note } = source.data ?? {};
  if (lines.length === 0) {
    const reason = source.error?.message ?? note;
    if (isQuiet || reason === undefined || reason === null) return null;
    return <p className="source-note muted small">Source unavailable: {visibleControls(reason)}</p>;
  }
  return (
    <pre className="source-lines" role="group" tabIndex={0} aria-label={`Source around line ${line}`}>
      {lines.map(({ number, text }) => (
        <code key={number} className={number === line ? 'is-here' : undefined}>
          <span className="source-number">{number}</span>
          <span>{visibleControls(text)}</span>
        </code>
      ))}
    </pre>
  );
}
