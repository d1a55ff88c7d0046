import { useState } from 'react';
import { usePartKeys } from '../keyboard.ts';
import { dateText } from '../time/format.ts';
import type { PlotProps } from './plot-types.ts';

/** The start and end of the selection, as indexes of times. */
export interface Picked {
  readonly anchor: number;
  readonly at: number;
}

export const toRange = ({ anchor, at }: Picked): readonly [first: number, last: number] => [
  Math.min(anchor, at),
  Math.max(anchor, at),
];

/** The current selection; undefined if the plot now has fewer times. */
export function usePicked(
  count: number,
): readonly [picked: Picked | undefined, set: (picked: Picked | undefined) => void] {
  const [picked, setPicked] = useState<Picked>();
  const isThere = picked !== undefined && picked.at < count && picked.anchor < count;
  return [isThere ? picked : undefined, setPicked];
}

interface RangeKeysProps extends Omit<PlotProps, 'picked'> {
  readonly onRange: (from: number, to: number) => void;
  readonly format: (value: number) => string;
  readonly zone: string;
  readonly picked: Picked | undefined;
  readonly onPick: (picked: Picked | undefined) => void;
}

/** Selects a range by keyboard instead of dragging: it takes the focus, and announces the values at each time. */
export function RangeKeys({
  label,
  times,
  series,
  format,
  zone,
  height,
  onRange,
  picked,
  onPick,
}: RangeKeysProps) {
  const last = times.length - 1;
  const step = times.length > 1 ? (times[1] as number) - (times[0] as number) : 60_000;
  const at = picked?.at ?? last;
  const go = (to: number, extends_: boolean): void => {
    const next = Math.min(last, Math.max(0, to));
    onPick({ at: next, anchor: extends_ ? (picked?.anchor ?? at) : next });
  };
  const onKeyDown = usePartKeys('In a plot over time', [
    { keys: 'ArrowLeft', label: 'Earlier', run: () => go(at - 1, false) },
    { keys: 'ArrowRight', label: 'Later', run: () => go(at + 1, false) },
    { keys: 'Shift+ArrowLeft', label: 'Extend the selection to earlier', run: () => go(at - 1, true) },
    { keys: 'Shift+ArrowRight', label: 'Extend the selection to later', run: () => go(at + 1, true) },
    { keys: 'Home', label: 'The first time', run: () => go(0, false) },
    { keys: 'End', label: 'The last time', run: () => go(last, false) },
    {
      keys: 'Enter',
      label: 'Show only the selected range',
      run: () => {
        if (!picked) return;
        const [first, final] = toRange(picked);
        onPick(undefined);
        onRange(times[first] as number, (times[final] as number) + step);
      },
    },
    ...(picked ? [{ keys: 'Escape', label: 'Clear the selection', run: () => onPick(undefined) }] : []),
  ]);
  const [first, final] = picked ? toRange(picked) : [at, at];
  const values = series.map(
    ({ name, values: all }) =>
      `${name} ${format(all.slice(first, final + 1).reduce<number>((sum, value) => sum + (value ?? 0), 0))}`,
  );
  return (
    <div
      className="plot-keys"
      style={{ blockSize: height }}
      role="slider"
      tabIndex={0}
      aria-label={`${label}: select a range`}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at}
      aria-valuetext={`${dateText(times[first] as number, zone)}${first === final ? '' : ` to ${dateText((times[final] as number) + step, zone)}`}: ${values.join(', ')}`}
      onKeyDown={onKeyDown}
      onFocus={() => onPick({ at, anchor: at })}
      onBlur={() => onPick(undefined)}
    />
  );
}
