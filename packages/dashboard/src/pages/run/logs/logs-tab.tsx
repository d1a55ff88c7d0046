import { useVirtualizer } from '@tanstack/react-virtual';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import { useFollow } from '../../../api/use-follow.ts';
import { IconButton } from '../../../parts/button.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { useSearchTexts } from '../../../parts/search.ts';
import { countText } from '../../../parts/count-text.ts';
import { codecEndpoint } from '../../../api/sealed.ts';
import { LineCells } from './line-cells.tsx';
import { openLines } from './open-lines.ts';
import { lineText, maxLines, withLines, type Line } from './log-lines.ts';
import './logs.css';

const levels = [
  ['', 'All levels'],
  ['info,log,warn,error', 'Info and above'],
  ['warn,error', 'Warnings and errors'],
  ['error', 'Errors'],
] as const;

/** The log lines of a run, live. The server searches; the query is in the address. */
export function LogsTab({ runId }: { readonly runId: string }) {
  const [{ level = '', find = '' }, setSearch] = useSearchTexts();
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [text, setText] = useState(find);
  const [isWrapped, setWrapped] = useState(() => localStorage.getItem('millrace.wrap') !== 'off');
  const [follows, setFollows] = useState(true);
  const deferredText = useDeferredValue(text);
  const buffer = useRef<Line[]>([]);
  const frame = useRef(0);
  const opening = useRef(Promise.resolve());
  /** Counts the starts of the stream: lines of an earlier one are not added to those of the next. */
  const round = useRef(0);
  const add = (more: readonly Line[]): void => {
    if (codecEndpoint === undefined) return setLines((before) => withLines(before, more));
    // Processed sequentially, so that opened lines do not follow later ones.
    const from = round.current;
    opening.current = opening.current.then(async () => {
      const opened = await openLines(more);
      if (from === round.current) setLines((before) => withLines(before, opened));
    });
  };

  const query = { 'filter[level]': level || undefined, 'filter[text]': deferredText || undefined };
  const { isOver, error } = useFollow(
    'followRunLogs',
    { params: { runId }, query },
    {
      onStart: () => {
        buffer.current = [];
        round.current += 1;
        setLines([]);
      },
    },
    ({ event, data }) => {
      if (event !== 'line') return;
      buffer.current.push(JSON.parse(data) as Line);
      // A thousand lines that arrive at once are rendered once.
      frame.current ||= requestAnimationFrame(() => {
        frame.current = 0;
        const more = buffer.current;
        buffer.current = [];
        add(more);
      });
    },
  );
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  useEffect(() => {
    if (deferredText !== find) setSearch({ find: deferredText || undefined });
  }, [deferredText]);

  const download = (): void => {
    const url = URL.createObjectURL(
      new Blob([`${lines.map(lineText).join('\n')}\n`], { type: 'text/plain' }),
    );
    const link = document.createElement('a');
    link.href = url;
    link.download = `${runId}.log`;
    link.click();
    URL.revokeObjectURL(url);
  };

  return (
    <div className="logs card">
      <div className="logs-bar">
        <input
          type="search"
          className="input"
          placeholder="Search messages and properties"
          aria-label="Search the log"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <select
          className="select"
          aria-label="Level"
          value={level}
          onChange={(event) => setSearch({ level: event.target.value || undefined })}
        >
          {levels.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <span className="muted small number logs-count" role="status">
          {countText(lines.length, 'line')}
          {lines.length === maxLines && ', older ones omitted'}
        </span>
        <IconButton
          icon="down"
          label="Follow new lines"
          isPressed={follows}
          onClick={() => setFollows(!follows)}
        />
        <IconButton
          icon="wrap"
          label="Wrap long lines"
          isPressed={isWrapped}
          onClick={() => {
            localStorage.setItem('millrace.wrap', isWrapped ? 'off' : 'on');
            setWrapped(!isWrapped);
          }}
        />
        <IconButton
          icon="download"
          label="Download these lines"
          disabled={lines.length === 0}
          onClick={download}
        />
      </div>
      {error !== undefined && <Failure error={error} />}
      {lines.length === 0 ? (
        <Empty title={deferredText === '' && level === '' ? 'No log lines' : 'No line matches'}>
          {isOver
            ? deferredText === '' && level === '' && 'Output of console and logger appears here.'
            : 'Lines appear as they are written.'}
        </Empty>
      ) : (
        <Lines lines={lines} isWrapped={isWrapped} follows={follows} onLeave={() => setFollows(false)} />
      )}
    </div>
  );
}

interface LinesProps {
  readonly lines: readonly Line[];
  readonly isWrapped: boolean;
  readonly follows: boolean;
  /** The reader scrolled up: new lines must not move the visible ones. */
  readonly onLeave: () => void;
}

function Lines({ lines, isWrapped, follows, onLeave }: LinesProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 20,
    overscan: 20,
    getItemKey: (index) => lines[index]?.id ?? index,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, isWrapped]);
  useEffect(() => {
    if (follows && lines.length > 0) virtualizer.scrollToIndex(lines.length - 1, { align: 'end' });
  }, [virtualizer, follows, lines.length]);
  return (
    <div
      ref={scroller}
      className={`logs-lines ${isWrapped ? 'is-wrapped' : ''}`}
      role="log"
      aria-label="Lines of the log"
      aria-live="off"
      tabIndex={0}
      onWheel={(event) => event.deltaY < 0 && follows && onLeave()}
    >
      <div style={{ blockSize: virtualizer.getTotalSize(), position: 'relative' }}>
        {virtualizer.getVirtualItems().map(({ index, start, key }) => {
          const line = lines[index] as Line;
          return (
            <div
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              className={`log-line level-${line.level}`}
              style={{ transform: `translateY(${start}px)` }}
            >
              <LineCells line={line} />
            </div>
          );
        })}
      </div>
    </div>
  );
}
