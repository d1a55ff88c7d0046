import { Component, lazy, Suspense, type ReactNode } from 'react';
import { dateText } from '../time/format.ts';
import { useTimeZone } from '../time/zone.ts';
import type { PlotProps, PlotSeries } from './plot-types.ts';
import { withLanguage } from './with-language.ts';
import { RangeKeys, toRange, usePicked } from './range-keys.tsx';
import './plot.css';

/** uPlot is loaded with the first plot. It reads the browser's language once, for its own number formats, which are not shown. */
const Canvas = lazy(() => withLanguage(() => import('./canvas.tsx')));

/**
 * Series over time. Stacked bars are a histogram; `onRange` lets a reader select a range, with the pointer or with arrows. The same numbers are
 * in a table, for screen readers and behind a button.
 */
export function Plot(props: PlotProps) {
  const { label, times, series, height = 96, format = (value: number) => value.toLocaleString('en') } = props;
  const zone = useTimeZone();
  const [picked, setPicked] = usePicked(times.length);
  return (
    <figure className="plot" aria-label={label}>
      <div className="plot-canvas" style={{ blockSize: height }} aria-hidden="true">
        <OrNothing>
          <Suspense>
            <Canvas
              {...props}
              picked={picked && toRange(picked)}
              height={height}
              format={format}
              zone={zone}
            />
          </Suspense>
        </OrNothing>
      </div>
      {props.onRange && times.length > 0 && (
        <RangeKeys
          {...props}
          height={height}
          onRange={props.onRange}
          format={format}
          zone={zone}
          picked={picked}
          onPick={setPicked}
        />
      )}
      <details className="plot-table">
        <summary>{label} as a table</summary>
        <div className="plot-scroll">
          <table className="plain-table">
            <thead>
              <tr>
                <th scope="col">Time</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" className="is-end">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((at, index) => (
                <tr key={at}>
                  <th scope="row">{dateText(at, zone)}</th>
                  {series.map(({ name, values }) => (
                    <td key={name} className="is-end number">
                      {values[index] == null ? '–' : format(values[index])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

interface LegendProps {
  readonly series: readonly Pick<PlotSeries, 'name' | 'color'>[];
  /** Shown after the names. */
  readonly children?: ReactNode;
}

/** The colors of the series. */
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

/** A plot that fails to render does not affect the page: the table has its numbers. */
class OrNothing extends Component<{ readonly children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? null : this.props.children;
  }
}
