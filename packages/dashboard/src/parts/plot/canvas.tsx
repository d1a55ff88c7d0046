import { useEffect, useEffectEvent, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useTheme } from '../theme.ts';
import { colorOf } from '../color-of.ts';
import { axisTimeText, dateText } from '../time/format.ts';
import { stacked, type PlotProps, type PlotSeries } from './plot-types.ts';

interface CanvasProps extends PlotProps {
  readonly height: number;
  readonly format: (value: number) => string;
  readonly zone: string;
}

/** 1, 2, 5, 10 …: counts of runs are whole numbers. */
const wholeSteps = Array.from({ length: 12 }, (_, power) =>
  [1, 2, 5].map((factor) => factor * 10 ** power),
).flat();

const ratio = (): number => window.devicePixelRatio || 1;
const bars = uPlot.paths.bars?.({ size: [0.86, 40], gap: 1 });
const steps = uPlot.paths.linear?.();

function seriesOptions(root: HTMLElement, series: PlotSeries): uPlot.Series {
  const color = colorOf(root, `var(${series.color})`);
  const kind = series.kind ?? 'bars';
  return {
    label: series.name,
    stroke: kind === 'bars' ? undefined : color,
    ...(kind !== 'line' && {
      fill:
        kind === 'bars' ? color : colorOf(root, `color-mix(in srgb, var(${series.color}) 18%, transparent)`),
    }),
    width: kind === 'bars' ? 0 : 1.5,
    // A line between few points is hardly visible, and a single point has none.
    points: {
      size: 5,
      fill: color,
      show: (self: uPlot, index: number) =>
        kind !== 'bars' &&
        [...(self.data[index] ?? [])].filter((value) => value !== null && value !== undefined).length < 4,
    },
    ...((kind === 'bars' ? bars : steps) && { paths: kind === 'bars' ? bars : steps }),
  };
}

/** The drawn part of `Plot`. */
export default function Canvas({
  times,
  series,
  isStacked = false,
  height,
  format,
  onRange,
  hasAxes = true,
  picked,
  zone,
}: CanvasProps) {
  const root = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const wasPicked = useRef(false);
  const theme = useTheme();
  const range = useEffectEvent((from: number, to: number) => onRange?.(from, to));
  const describe = useEffectEvent((index: number): string => {
    const lines = series.flatMap(({ name, values }) => {
      const value = values[index];
      return value == null || (isStacked && value === 0) ? [] : [`${name}  ${format(value)}`];
    });
    return [dateText(times[index] ?? 0, zone), ...(lines.length > 0 ? lines : ['nothing'])].join('\n');
  });
  const formatAxis = useEffectEvent((value: number) => format(value));

  const step = times.length > 1 ? (times[1] as number) - (times[0] as number) : 60_000;
  const heights = isStacked ? stacked(series) : series.map(({ values }) => values);
  // The tallest first: each lower one is drawn over it.
  const order = isStacked
    ? series.map((_, index) => series.length - 1 - index)
    : series.map((_, index) => index);
  const data = [
    times.map((at) => (at + (isStacked ? step / 2 : 0)) / 1_000),
    ...order.map((index) => heights[index]),
  ] as unknown as uPlot.AlignedData;
  const shape = JSON.stringify([
    order.map((index) => ({ ...series[index], values: [] })),
    isStacked,
    hasAxes,
    zone,
  ]);

  useEffect(() => {
    const element = root.current;
    if (!element) return undefined;
    const [drawn] = JSON.parse(shape) as [PlotSeries[]];
    const muted = colorOf(element, 'var(--muted)');
    const border = colorOf(element, 'var(--border)');
    const font = `12px ${getComputedStyle(element).fontFamily}`;
    const axis = { stroke: muted, font, ticks: { show: false }, gap: 4 };
    const chart = new uPlot(
      {
        width: element.clientWidth || 300,
        height,
        padding: hasAxes ? [8, 4, 0, 0] : [1, 0, 1, 0],
        legend: { show: false },
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: onRange !== undefined, y: false, setScale: false },
        },
        select: { show: onRange !== undefined, left: 0, top: 0, width: 0, height: 0 },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), zone),
        scales: {
          x: {
            time: true,
            range: (_, min, max) => (isStacked ? [min - step / 2_000, max + step / 2_000] : [min, max]),
          },
          y: { range: (_, min, max) => [Math.min(0, min ?? 0), Math.max(1, (max ?? 1) * 1.05)] },
        },
        axes: [
          {
            ...axis,
            show: hasAxes,
            grid: { show: false },
            size: 24,
            space: 90,
            values: (self, values) => {
              const { min = 0, max = 0 } = self.scales['x'] ?? {};
              // Omitted at the end, where it would be cut off.
              const end = self.bbox.width / ratio() - 24;
              const texts = values.map((value) => axisTimeText(value * 1_000, (max - min) * 1_000, zone));
              // For steps shorter than the resolution of the text, labels would repeat.
              return texts.map((text, index) =>
                text === texts[index - 1] || self.valToPos(values[index] as number, 'x') > end ? '' : text,
              );
            },
          },
          {
            ...axis,
            show: hasAxes,
            grid: { stroke: border, width: 1 / ratio() },
            size: 44,
            space: height < 100 ? 18 : 28,
            incrs: wholeSteps,
            values: (_, values) => values.map((value) => formatAxis(value)),
          },
        ],
        series: [{}, ...drawn.map((line) => seriesOptions(element, line))],
        hooks: {
          setSelect: [
            (self) => {
              const { left, width } = self.select;
              if (width < 4) return;
              const [from, to] = [self.posToVal(left, 'x'), self.posToVal(left + width, 'x')];
              self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              range(Math.round(from * 1_000), Math.round(to * 1_000));
            },
          ],
          setCursor: [
            (self) => {
              const box = tip.current;
              if (!box) return;
              const { idx, left = -1 } = self.cursor;
              if (idx == null || left < 0) {
                box.hidden = true;
                return;
              }
              box.hidden = false;
              box.textContent = describe(idx);
              const at = left + self.over.offsetLeft;
              const isRight = at > self.width / 2;
              box.style.insetInlineStart = isRight ? 'auto' : `${at + 12}px`;
              box.style.insetInlineEnd = isRight ? `${self.width - at + 12}px` : 'auto';
            },
          ],
        },
      },
      [[], ...drawn.map(() => [])],
      element,
    );
    plot.current = chart;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) chart.setSize({ width: element.clientWidth, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
      plot.current = undefined;
    };
    // The theme changes the colors.
  }, [shape, height, theme, isStacked, hasAxes, zone, step, onRange === undefined]);

  const drawnData = JSON.stringify(data);
  useEffect(() => {
    plot.current?.setData(JSON.parse(drawnData) as uPlot.AlignedData);
    // Also applies after it was recreated.
  }, [drawnData, shape, height, theme, isStacked, hasAxes, zone, step, onRange === undefined]);

  const [first, last] = picked ?? [];
  useEffect(() => {
    const chart = plot.current;
    if (!chart) return;
    if (first === undefined || last === undefined) {
      if (!wasPicked.current) return;
      wasPicked.current = false;
      chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      chart.setCursor({ left: -10, top: -10 });
      return;
    }
    wasPicked.current = true;
    const left = chart.valToPos((times[first] ?? 0) / 1_000, 'x');
    const right = chart.valToPos(((times[last] ?? 0) + step) / 1_000, 'x');
    chart.setSelect({ left, top: 0, width: right - left, height: chart.over.clientHeight }, false);
    chart.setCursor({ left: (left + right) / 2, top: 4 });
  }, [first, last, drawnData, step, times]);

  return (
    <>
      <div ref={root} className={onRange ? 'plot-root can-brush' : 'plot-root'} />
      <div ref={tip} className="tip plot-tip" hidden />
    </>
  );
}
