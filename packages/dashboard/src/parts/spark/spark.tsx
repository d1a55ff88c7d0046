import './spark.css';

interface SparkProps {
  /** "Failures in the last day". Screen readers also get the numbers. */
  readonly label: string;
  /** Oldest first. */
  readonly values: readonly number[];
  /** A custom property of the design tokens: `--bad`. */
  readonly color: string;
}

const height = 20;

/**
 * Bars as small as a word: for table cells, where `Plot` would be too much. The highest bar fills the cell, so shapes are comparable, but not
 * heights.
 *
 * @example
 * <Spark label="Occurrences in the last day" values={[0, 3, 12, 4]} color="--bad" />
 */
export function Spark({ label, values, color }: SparkProps) {
  const max = Math.max(0, ...values);
  const sum = values.reduce((before, value) => before + value, 0);
  const width = values.length * 4 - 1;
  const text = `${label}: ${sum.toLocaleString('en')}, at most ${max.toLocaleString('en')} in one bar`;
  return (
    <svg
      className="spark"
      role="img"
      aria-label={text}
      data-tip={text}
      viewBox={`0 0 ${Math.max(1, width)} ${height}`}
      preserveAspectRatio="none"
      style={{ color: `var(${color})` }}
    >
      <path className="spark-ground" d={`M0 ${height - 0.5}H${width}`} />
      <path className="spark-bars" d={values.map((value, index) => barPath(value, index, max)).join('')} />
    </svg>
  );
}

/** A bar that is visible even for small values; empty for 0. */
function barPath(value: number, index: number, max: number): string {
  if (value <= 0) return '';
  const tall = Math.max(2, Math.round((value / max) * height));
  return `M${index * 4} ${height}v-${tall}h3v${tall}z`;
}
