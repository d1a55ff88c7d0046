import { readableDuration } from '@millrace/contract/plain';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useDeferredValue, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react';
import { Button } from '../../../parts/button.tsx';
import { useIsNarrow } from '../../../parts/media.ts';
import { TimelineDetail } from './timeline-detail.tsx';
import { layoutTimeline, percent, ticks, type TimelineRow } from './layout.ts';
import { WaterfallRow } from './waterfall-row.tsx';
import type { TimelineEntry } from '@millrace/contract';
import './waterfall.css';

interface WaterfallProps {
  readonly entries: readonly TimelineEntry[];
  /** The server's clock of the answer: what goes on ends there. */
  readonly now: number;
}

interface Window {
  readonly from: number;
  readonly to: number;
}

const rowHeight = 26;

/**
 * Everything that happened in a run and below it, on one axis. Drag over it to look closer; arrows go through the lines, open and close them; Enter
 * shows what is known of one. It is a tree with names and times for screen readers.
 */
export function Waterfall({ entries, now }: WaterfallProps) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const [find, setFind] = useState('');
  const [isFull, setFull] = useState(() => localStorage.getItem('millrace.timeline') === 'full');
  const [window, setWindow] = useState<Window>();
  const [active, setActive] = useState<string>();
  const [selected, setSelected] = useState<string>();
  const scroller = useRef<HTMLDivElement>(null);
  const wanted = useDeferredValue(find);
  const timeline = useMemo(
    () => layoutTimeline(entries, now, { collapsed, find: wanted, isFull }),
    [entries, now, collapsed, wanted, isFull],
  );
  const { rows } = timeline;
  const shown = window ?? timeline;
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
    setActive(row.id);
    virtualizer.scrollToIndex(rows.indexOf(row), { align: 'auto' });
    requestAnimationFrame(() =>
      scroller.current
        ?.querySelector<HTMLElement>(`[data-id="${CSS.escape(row.id)}"]`)
        ?.focus({ preventScroll: true }),
    );
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const index = rows.findIndex(({ id }) => id === active);
    const row = rows[index];
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(index + 1),
      ArrowUp: () => move(index - 1),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      ArrowRight: () => {
        if (row && row.isCollapsed) toggle(row.id);
        else move(index + 1);
      },
      ArrowLeft: () => {
        if (row && row.childCount > 0 && !row.isCollapsed) toggle(row.id);
        else move(parentIndex(rows, index));
      },
      Enter: () => row && setSelected(row.id === selected ? undefined : row.id),
      Escape: () => (selected === undefined ? setWindow(undefined) : setSelected(undefined)),
    };
    const act = event.target instanceof HTMLInputElement ? undefined : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
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
        <span className="muted small number">{readableDuration(shown.to - shown.from)}</span>
        {window && (
          <Button look="plain" onClick={() => setWindow(undefined)}>
            Show all
          </Button>
        )}
        <Button
          look="plain"
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
            look="plain"
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
            {collapsed.size > 0 ? 'Open all' : 'Close all'}
          </Button>
        )}
      </div>
      <Axis window={shown} onRange={setWindow} />
      <div
        ref={scroller}
        className="waterfall-rows"
        role="treegrid"
        aria-label="Timeline"
        aria-rowcount={rows.length}
        onKeyDown={onKeyDown}
      >
        <div role="rowgroup" style={{ blockSize: virtualizer.getTotalSize(), position: 'relative' }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => {
            const row = rows[index] as TimelineRow;
            return (
              <WaterfallRow
                key={row.id}
                row={row}
                index={index}
                top={start}
                from={shown.from}
                to={shown.to}
                isTabStop={active === undefined ? index === 0 : row.id === active}
                isSelected={row.id === selected}
                onToggle={() => toggle(row.id)}
                onFocus={() => setActive(row.id)}
                onSelect={() => setSelected(row.id === selected ? undefined : row.id)}
              />
            );
          })}
        </div>
        {rows.length === 0 && <p className="muted waterfall-none">Nothing in the timeline has this text.</p>}
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

interface AxisProps {
  readonly window: Window;
  readonly onRange: (window: Window) => void;
}

/** Times since the start. Dragging over it chooses a part. */
function Axis({ window, onRange }: AxisProps) {
  const [drag, setDrag] = useState<{ readonly start: number; readonly end: number }>();
  const isNarrow = useIsNarrow();
  const length = window.to - window.from;
  const at = (event: PointerEvent<HTMLDivElement>): number => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  return (
    <div className="waterfall-axis">
      <div
        className="axis"
        aria-hidden="true"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ start: at(event), end: at(event) });
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, end: at(event) })}
        onPointerUp={() => {
          if (drag && Math.abs(drag.end - drag.start) > 0.01)
            onRange({
              from: window.from + Math.min(drag.start, drag.end) * length,
              to: window.from + Math.max(drag.start, drag.end) * length,
            });
          setDrag(undefined);
        }}
        onPointerCancel={() => setDrag(undefined)}
      >
        {ticks(length, isNarrow ? 2 : 6).map((tick) => (
          <span
            key={tick}
            className="tick number"
            style={{ insetInlineStart: `${percent(tick, 0, length)}%` }}
          >
            {readableDuration(tick)}
          </span>
        ))}
        {drag && (
          <span
            className="axis-drag"
            style={{
              insetInlineStart: `${Math.min(drag.start, drag.end) * 100}%`,
              inlineSize: `${Math.abs(drag.end - drag.start) * 100}%`,
            }}
          />
        )}
      </div>
    </div>
  );
}
