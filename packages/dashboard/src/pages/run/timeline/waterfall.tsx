import { readableDuration } from '@millrace/contract/plain';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useDeferredValue, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../../../parts/button.tsx';
import { usePartKeys } from '../../../parts/keyboard.ts';
import { TimelineDetail } from './timeline-detail.tsx';
import { Axis } from './axis.tsx';
import { layoutTimeline, type TimelineRow } from './layout.ts';
import { linesOf } from './lines.ts';
import { Minimap } from './minimap.tsx';
import { around, moved, zoomed, type Window } from './window.ts';
import { WaterfallRow } from './waterfall-row.tsx';
import type { TimelineEntry } from '@millrace/contract';
import './waterfall.css';

interface WaterfallProps {
  readonly entries: readonly TimelineEntry[];
  /** The server's time in the response: entries in progress end there. */
  readonly now: number;
}

const rowHeight = 26;

/**
 * All events of a run and its descendants, on one axis. Dragging zooms in; arrows move through the lines, open and close them; Enter shows
 * details. Many lines have a minimap. For screen readers it is a tree with names and times.
 */
export function Waterfall({ entries, now }: WaterfallProps) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const [find, setFind] = useState('');
  const [isFull, setFull] = useState(() => localStorage.getItem('millrace.timeline') === 'full');
  const [window, setWindow] = useState<Window>();
  const [active, setActive] = useState<string>();
  const [selected, setSelected] = useState<string>();
  const [, setMoved] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  /** The line that gets the focus as soon as it is rendered. */
  const toFocus = useRef<string>(undefined);
  const deferredFind = useDeferredValue(find);
  const lines = useMemo(() => linesOf(entries, now), [entries, now]);
  const timeline = useMemo(
    () => layoutTimeline(lines, now, { collapsed, find: deferredFind, isFull }),
    [lines, now, collapsed, deferredFind, isFull],
  );
  const { rows } = timeline;
  const view = window ?? timeline;
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });

  const toggle = (id: string): void =>
    setCollapsed((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  const move = (to: number): void => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, to))];
    if (!row) return;
    toFocus.current = row.id;
    setActive(row.id);
    setMoved((count) => count + 1);
    virtualizer.scrollToIndex(rows.indexOf(row), { align: 'auto' });
  };
  useLayoutEffect(() => {
    if (toFocus.current === undefined) return;
    const line = scroller.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(toFocus.current)}"]`);
    if (!line) return;
    toFocus.current = undefined;
    line.focus({ preventScroll: true });
  });
  const index = rows.findIndex(({ id }) => id === active);
  const current = rows[index];
  const zoom = (factor: number): void => setWindow(zoomed(view, timeline, factor, current));
  const pan = (by: number): void => setWindow(moved(view, timeline, by));
  const onKeyDown = usePartKeys('In the timeline', [
    { keys: 'ArrowDown', label: 'Next line', run: () => move(index + 1) },
    { keys: 'ArrowUp', label: 'Previous line', run: () => move(index - 1) },
    { keys: 'Home', label: 'First line', run: () => move(0) },
    { keys: 'End', label: 'Last line', run: () => move(rows.length - 1) },
    {
      keys: 'ArrowRight',
      label: 'Expand the line',
      run: () => (current?.isCollapsed ? toggle(current.id) : move(index + 1)),
    },
    {
      keys: 'ArrowLeft',
      label: 'Collapse the line, or go to its parent',
      run: () =>
        current && current.childCount > 0 && !current.isCollapsed
          ? toggle(current.id)
          : move(parentIndex(rows, index)),
    },
    {
      keys: 'Enter',
      label: 'Show details',
      run: () => current && setSelected(current.id === selected ? undefined : current.id),
    },
    {
      keys: 'z',
      label: 'Zoom to the line',
      run: () => current && setWindow(around(current, timeline)),
    },
    { keys: '+', label: 'Zoom in', run: () => zoom(0.5) },
    { keys: '-', label: 'Zoom out', run: () => zoom(2) },
    { keys: 'Shift+ArrowLeft', label: 'Move to earlier times', run: () => pan(-0.25) },
    { keys: 'Shift+ArrowRight', label: 'Move to later times', run: () => pan(0.25) },
    ...(selected !== undefined || window
      ? [
          {
            keys: 'Escape',
            label: 'Close details, or show all times',
            run: () => (selected === undefined ? setWindow(undefined) : setSelected(undefined)),
          },
        ]
      : []),
  ]);
  const visible = virtualizer.getVirtualItems();
  const tabStop = visible.some((item) => item.index === index) ? index : visible[0]?.index;
  const detail = rows.find(({ id }) => id === selected);

  return (
    <div className="waterfall card">
      <div className="waterfall-bar">
        <input
          type="search"
          className="input"
          placeholder="Find a task, a span or an id"
          aria-label="Find in the timeline"
          value={find}
          onChange={(event) => setFind(event.target.value)}
        />
        <span className="muted small number">{readableDuration(view.to - view.from)}</span>
        {window && (
          <Button variant="plain" onClick={() => setWindow(undefined)}>
            Show all
          </Button>
        )}
        <Button
          variant="plain"
          aria-pressed={isFull}
          onClick={() => {
            localStorage.setItem('millrace.timeline', isFull ? 'compact' : 'full');
            setFull(!isFull);
          }}
        >
          Every attempt
        </Button>
        {rows.some(({ childCount }) => childCount > 0) && (
          <Button
            variant="plain"
            onClick={() =>
              setCollapsed(
                collapsed.size > 0
                  ? new Set()
                  : new Set(
                      rows.filter(({ childCount, depth }) => childCount > 0 && depth > 0).map(({ id }) => id),
                    ),
              )
            }
          >
            {collapsed.size > 0 ? 'Expand all' : 'Collapse all'}
          </Button>
        )}
      </div>
      {(rows.length > 20 || window !== undefined) && (
        <Minimap
          timeline={timeline}
          view={view}
          lines={[visible[0]?.index ?? 0, visible.at(-1)?.index ?? 0]}
          onShow={setWindow}
          onLine={(line) => virtualizer.scrollToIndex(line, { align: 'center' })}
        />
      )}
      <Axis window={view} onRange={setWindow} />
      <div
        ref={scroller}
        className="waterfall-rows"
        role="treegrid"
        aria-label="Timeline"
        aria-rowcount={rows.length}
        onKeyDown={onKeyDown}
      >
        <div role="rowgroup" style={{ blockSize: virtualizer.getTotalSize(), position: 'relative' }}>
          {visible.map(({ index: at, start }) => {
            const row = rows[at] as TimelineRow;
            return (
              <WaterfallRow
                key={row.id}
                row={row}
                index={at}
                top={start}
                from={view.from}
                to={view.to}
                isTabStop={at === tabStop}
                isSelected={row.id === selected}
                onToggle={() => toggle(row.id)}
                onFocus={() => setActive(row.id)}
                onSelect={() => setSelected(row.id === selected ? undefined : row.id)}
              />
            );
          })}
        </div>
        {rows.length === 0 && <p className="muted waterfall-none">No matches in the timeline.</p>}
      </div>
      {detail && (
        <TimelineDetail row={detail} origin={timeline.from} onClose={() => setSelected(undefined)} />
      )}
    </div>
  );
}

function parentIndex(rows: readonly TimelineRow[], index: number): number {
  const depth = rows[index]?.depth ?? 0;
  for (let at = index - 1; at >= 0; at--) if ((rows[at]?.depth ?? 0) < depth) return at;
  return index;
}
