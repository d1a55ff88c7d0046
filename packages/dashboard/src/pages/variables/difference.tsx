import type { VariableDifference } from '@millrace/contract';
import { useAsk } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { Failure, Skeleton } from '../../parts/failure.tsx';

/** The differences between two revisions of the environment's own variables. `to` undefined: the present. */
export function Difference({ from, to }: { readonly from: number; readonly to: number | undefined }) {
  const params = useEnvironmentPath();
  const difference = useAsk(
    'compareVariableRevisions',
    { params, query: { from, ...(to !== undefined && { to }) } },
    { keepPrevious: false },
  );
  if (difference.error && !difference.data)
    return <Failure error={difference.error} onRetry={() => void difference.refetch()} />;
  if (!difference.data) return <Skeleton label="Loading the difference" />;
  return <Changes changes={difference.data.changes} />;
}

/** Removed and added lines, as in the diff of a file. Values of secrets are not available here. */
export const Changes = ({ changes }: { readonly changes: readonly VariableDifference[] }) =>
  changes.length === 0 ? (
    <p className="muted">No differences.</p>
  ) : (
    <ul className="diff" aria-label="Differences">
      {changes.map((item) => (
        <li key={item.name} className="diff-item">
          {item.change !== 'added' && (
            <Line sign="−" label="was" name={item.name} value={item.from} isSecret={item.isSecret} />
          )}
          {item.change !== 'removed' && (
            <Line sign="+" label="is" name={item.name} value={item.to} isSecret={item.isSecret} />
          )}
        </li>
      ))}
    </ul>
  );

interface LineProps {
  readonly sign: '+' | '−';
  readonly label: string;
  readonly name: string;
  readonly value: string | undefined;
  readonly isSecret: boolean;
}

const Line = ({ sign, label, name, value, isSecret }: LineProps) => (
  <p className={`diff-line ${sign === '+' ? 'is-new' : 'is-old'}`}>
    <span aria-hidden="true">{sign}</span>
    <span className="hidden-text">{label} </span>
    <code>
      {name}={isSecret ? <span className="muted">secret, not shown</span> : visibleControls(value ?? '')}
    </code>
  </p>
);
