export interface PlotSeries {
  readonly name: string;
  /** One for each time; null where nothing was measured. */
  readonly values: readonly (number | null)[];
  /** A custom property of the tokens: `--good`. */
  readonly color: string;
  readonly kind?: 'bars' | 'line' | 'area';
}

export interface PlotProps {
  /** What it shows: "Runs by status". */
  readonly label: string;
  /** Milliseconds since 1970, oldest first, at equal steps. */
  readonly times: readonly number[];
  readonly series: readonly PlotSeries[];
  /** Bars on top of each other, the first series at the bottom. */
  readonly isStacked?: boolean;
  readonly height?: number;
  readonly format?: (value: number) => string;
  /** A reader brushed from one time to another. */
  readonly onRange?: (from: number, to: number) => void;
  /** Indexes of times that are being chosen by keyboard, both included. */
  readonly picked?: readonly [first: number, last: number] | undefined;
  /** False: without axes, as small as a word. */
  readonly hasAxes?: boolean;
}

/** Each series with those before it added: what stacked bars are drawn from. */
export function stacked(
  series: readonly { readonly values: readonly (number | null)[] }[],
): readonly (readonly number[])[] {
  let below: readonly number[] = [];
  return series.map(({ values }) => {
    below = values.map((value, index) => (value ?? 0) + (below[index] ?? 0));
    return below;
  });
}
