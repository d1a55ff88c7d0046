import { useEffect, useRef, type PointerEvent } from 'react';
import { colorOf } from '../../../parts/color-of.ts';
import { useTheme } from '../../../parts/theme.ts';
import { percent, type Timeline, type TimelineRow } from './layout.ts';
import type { Window } from './window.ts';

interface MinimapProps {
  readonly timeline: Timeline;
  readonly view: Window;
  /** The first and the last visible line. */
  readonly lines: readonly [first: number, last: number];
  readonly onShow: (window: Window | undefined) => void;
  readonly onLine: (line: number) => void;
}

const height = 48;

const colors: Readonly<Record<TimelineRow['tone'], string>> = {
  good: '--good',
  bad: '--bad',
  busy: '--busy',
  waiting: '--waiting',
  warn: '--warn',
  quiet: '--strong-border',
};

/**
 * All lines of a long timeline in one small picture, with a frame around the visible part. A press scrolls to that position; dragging moves the
 * frame. The shortcuts of the timeline do the same.
 */
export function Minimap({ timeline, view, lines, onShow, onLine }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const { rows, from, to } = timeline;

  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const draw = (): void => {
      const context = element.getContext('2d');
      const width = element.clientWidth;
      if (!context || width === 0) return;
      const ratio = window.devicePixelRatio || 1;
      element.width = width * ratio;
      element.height = height * ratio;
      context.scale(ratio, ratio);
      const fill = Object.fromEntries(
        Object.entries(colors).map(([tone, color]) => [tone, colorOf(element, `var(${color})`)]),
      );
      const line = Math.min(3, height / rows.length);
      // Failed ones are drawn last, so that others do not hide them.
      for (const isBad of [false, true])
        for (const [index, row] of rows.entries()) {
          if ((row.tone === 'bad') !== isBad) continue;
          const left = (percent(row.from, from, to) / 100) * width;
          const right = (percent(row.to, from, to) / 100) * width;
          context.fillStyle = fill[row.tone] ?? '';
          context.fillRect(
            left,
            index * (rows.length > height / 3 ? height / rows.length : 3),
            Math.max(1, right - left),
            Math.max(isBad ? 1.5 : 0.5, line - 0.5),
          );
        }
    };
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => observer.disconnect();
  }, [rows, from, to, theme]);

  const goTo = (event: PointerEvent<HTMLDivElement>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const y = Math.min(1, Math.max(0, (event.clientY - box.top) / box.height));
    onLine(Math.min(rows.length - 1, Math.floor(y * Math.max(rows.length, height / 3))));
    const length = view.to - view.from;
    if (length >= to - from) return;
    const start = Math.min(Math.max(from, from + x * (to - from) - length / 2), to - length);
    onShow({ from: start, to: start + length });
  };
  const count = Math.max(rows.length, height / 3);
  return (
    <div className="minimap-holder">
      <div
        className="minimap"
        aria-hidden="true"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          goTo(event);
        }}
        onPointerMove={(event) => event.buttons === 1 && goTo(event)}
      >
        <canvas ref={canvas} className="minimap-lines" />
        <span
          className="minimap-frame"
          style={{
            insetInlineStart: `${percent(view.from, from, to)}%`,
            inlineSize: `${percent(view.to, from, to) - percent(view.from, from, to)}%`,
            insetBlockStart: `${(lines[0] / count) * 100}%`,
            blockSize: `${((lines[1] + 1 - lines[0]) / count) * 100}%`,
          }}
        />
      </div>
    </div>
  );
}
