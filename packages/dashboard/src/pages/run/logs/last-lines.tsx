import { useEffect, useState } from 'react';
import { useAsk } from '../../../api/ask.ts';
import { Button } from '../../../parts/button.tsx';
import { useSearchTexts } from '../../../parts/search.ts';
import { Section } from '../../../parts/page.tsx';
import { useNow } from '../../../parts/time/now.ts';
import { LineCells } from './line-cells.tsx';
import { openLines } from './open-lines.ts';
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
            <LineCells line={line} />
          </li>
        ))}
      </ol>
    </Section>
  );
}
