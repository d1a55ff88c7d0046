import { readableDuration } from '@millrace/contract/plain';
import { useState, type PointerEvent } from 'react';
import { useIsNarrow } from '../../../parts/media.ts';
import { percent, ticks } from './layout.ts';
import type { Window } from './window.ts';

interface AxisProps {
  readonly window: Window;
  readonly onRange: (window: Window) => void;
}

/** Times since the start. Dragging selects a range. */
export function Axis({ window, onRange }: AxisProps) {
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
