import { LongText } from '../../../parts/json/long-text.tsx';
import { visibleControls } from '../../../parts/json/visible-controls.ts';
import { clockText, exactText } from '../../../parts/time/format.ts';
import { useTimeZone } from '../../../parts/time/zone.ts';
import { propertiesText, type Line } from './log-lines.ts';

/** Time, level and text of a line, as cells of its row. */
export function LineCells({
  line,
}: {
  readonly line: Pick<Line, 'at' | 'level' | 'message' | 'properties'>;
}) {
  const zone = useTimeZone();
  const at = Date.parse(line.at);
  return (
    <>
      <time className="log-time number" dateTime={line.at} data-tip={exactText(at, zone)}>
        {clockText(at, zone)}
      </time>
      <span className="log-level">{line.level}</span>
      <span className="log-text">
        <LongText text={line.message} />
        {line.properties && (
          <span className="log-properties">{visibleControls(propertiesText(line.properties))}</span>
        )}
      </span>
    </>
  );
}
