export interface PlotSeries {
  readonly name: string;
  /** One for each time; null where nothing was measured. */
  readonly values: readonly (number | null)[];
  /** A custom property of the design tokens: `--good`. */
  readonly color: string;
  readonly kind?: 'bars' | 'line' | 'area';
}

export interface PlotProps {
  /** The title: "Runs by status". */
  readonly label: string;
  /** Milliseconds since 1970, oldest first, at equal intervals. */
  readonly times: readonly number[];
  readonly series: readonly PlotSeries[];
  /** Bars on top of each other, the first series at the bottom. */
  readonly isStacked?: boolean;
  readonly height?: number;
  readonly format?: (value: number) => string;
  /** Called when the reader selects a time range. */
  readonly onRange?: (from: number, to: number) => void;
  /** Indexes of the times being selected by keyboard, both inclusive. */
  readonly picked?: readonly [first: number, last: number] | undefined;
  /** If false, drawn without axes at the size of a word. */
  readonly hasAxes?: boolean;
}

/** Cumulative sums of the series, from which stacked bars are drawn. */
export function stacked(
  series: readonly { readonly values: readonly (number | null)[] }[],
): readonly (readonly number[])[] {
  let below: readonly number[] = [];
  return series.map(({ values }) => {
    below = values.map((value, index) => (value ?? 0) + (below[index] ?? 0));
    return below;
  });
}
