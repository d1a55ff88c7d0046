import type { ModelUsage, UsageOfModel } from '@millrace/contract';
import { visibleControls } from '../json/visible-controls.ts';
import { dollarsText } from './dollars.ts';
import '../plot/plot.css';

interface UsageTableProps {
  readonly label: string;
  readonly models: readonly UsageOfModel[];
  readonly total: ModelUsage;
}

const counts: readonly (readonly [name: string, of: (usage: ModelUsage) => number])[] = [
  ['Calls', ({ calls }) => calls],
  ['Input tokens', ({ inputTokens }) => inputTokens],
  ['Cached', ({ cachedInputTokens }) => cachedInputTokens],
  ['Output tokens', ({ outputTokens }) => outputTokens],
];

/** The tokens and cost of models, with their sum. */
export const UsageTable = ({ label, models, total }: UsageTableProps) => (
  <div className="card scroll-x" tabIndex={0} role="region" aria-label={label}>
    <table className="plain-table" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Model</th>
          {[...counts.map(([name]) => name), 'Cost'].map((name) => (
            <th key={name} scope="col" className="is-end">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {models.map((usage) => (
          <tr key={`${usage.provider} ${usage.model}`}>
            <th scope="row">
              <span className="mono">{visibleControls(usage.model)}</span>{' '}
              <span className="muted">{visibleControls(usage.provider)}</span>
            </th>
            <Figures usage={usage} />
          </tr>
        ))}
        {models.length !== 1 && (
          <tr>
            <th scope="row">Total</th>
            <Figures usage={total} />
          </tr>
        )}
      </tbody>
    </table>
  </div>
);

const Figures = ({ usage }: { readonly usage: ModelUsage }) => (
  <>
    {counts.map(([name, of]) => (
      <td key={name} className="is-end number">
        {of(usage).toLocaleString('en')}
      </td>
    ))}
    <td className="is-end number">
      <Cost usage={usage} />
    </td>
  </>
);

/** Calls without a price are named, because the cost is incomplete. */
export const Cost = ({ usage: { cost, calls, unpricedCalls } }: { readonly usage: ModelUsage }) => (
  <>
    {unpricedCalls < calls && <span data-tip={`$${cost}`}>{dollarsText(cost)}</span>}
    {unpricedCalls > 0 && (
      <span className="muted">
        {unpricedCalls < calls && ' + '}
        {unpricedCalls === calls ? 'no price' : `${unpricedCalls.toLocaleString('en')} without a price`}
      </span>
    )}
  </>
);
