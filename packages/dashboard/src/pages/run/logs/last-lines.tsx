import { useEffect, useState } from 'react';
import { useAsk } from '../../../api/ask.ts';
import { Button } from '../../../parts/button.tsx';
import { LongText } from '../../../parts/json/long-text.tsx';
import { visibleControls } from '../../../parts/json/visible-controls.ts';
import { useSearchTexts } from '../../../parts/search.ts';
import { Section } from '../../../parts/page.tsx';
import { clockText, exactText } from '../../../parts/time/format.ts';
import { useNow } from '../../../parts/time/now.ts';
import { useTimeZone } from '../../../parts/time/zone.ts';
import { openLines } from './open-lines.ts';
import { propertiesText } from './log-lines.ts';
import './logs.css';

const count = 10;
/** The last lines may arrive after the end of the run. */
const lateMs = 30_000;

/** The lines that a run wrote before it failed. */
export function LastLines({
  runId,
  endedAt,
}: {
  readonly runId: string;
  readonly endedAt: string | undefined;
}) {
  const now = useNow();
  const isLate = endedAt !== undefined && now - Date.parse(endedAt) > lateMs;
  const zone = useTimeZone();
  const [, setSearch] = useSearchTexts();
  const logs = useAsk(
    'listRunLogs',
    { params: { runId }, query: { latest: 'true', limit: count } },
    { live: isLate ? false : 3_000 },
  );
  const [lines, setLines] = useState<NonNullable<typeof logs.data>['lines']>([]);
  useEffect(() => {
    let isCurrent = true;
    void openLines(logs.data?.lines ?? []).then((opened) => {
      if (isCurrent) setLines([...opened]);
    });
    return () => {
      isCurrent = false;
    };
  }, [logs.data]);
  if (lines.length === 0) return null;
  return (
    <Section
      title="Log before the failure"
      actions={
        <Button variant="plain" onClick={() => setSearch({ tab: 'logs' })}>
          All lines
        </Button>
      }
    >
      <ol className="last-lines card">
        {lines.map((line, index) => (
          <li key={index} className={`last-line level-${line.level}`}>
            <time
              className="log-time number"
              dateTime={line.at}
              data-tip={exactText(Date.parse(line.at), zone)}
            >
              {clockText(Date.parse(line.at), zone)}
            </time>
            <span className="log-level">{line.level}</span>
            <span className="log-text">
              <LongText text={line.message} />
              {line.properties && (
                <span className="log-properties">{visibleControls(propertiesText(line.properties))}</span>
              )}
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}
