import type { ReactNode } from 'react';
import type { PlotSeries } from './plot-types.ts';

interface LegendProps {
  readonly series: readonly Pick<PlotSeries, 'name' | 'color'>[];
  /** What follows the names. */
  readonly children?: ReactNode;
}

/** Which color is which series. */
export const Legend = ({ series, children }: LegendProps) => (
  <div className="legend">
    {series.map(({ name, color }) => (
      <span key={name}>
        <span className="legend-mark" style={{ color: `var(${color})` }} />
        {name}
      </span>
    ))}
    {children}
  </div>
);
