import { ApiError, messageOf } from '../api/api-error.ts';
import { helpCommand } from '@millrace/contract/help';
import { Button } from './button.tsx';
import './states.css';

/** The error of a request when there is no older data to show. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const isOutage = error instanceof ApiError && error.isOutage;
  const help = error instanceof ApiError ? error.help : undefined;
  return (
    <div className="failure" role="alert">
      <p className="strong">{messageOf(error)}</p>
      {isOutage && <p className="muted">The page reloads once the server is available.</p>}
      {help !== undefined && (
        <p className="muted">
          See: <code>{helpCommand(help)}</code>
        </p>
      )}
      {onRetry && !isOutage && (
        <Button icon="replay" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** Placeholder lines for text. They are not animated. */
export const Skeleton = ({
  lines = 3,
  label = 'Loading',
}: {
  readonly lines?: number;
  readonly label?: string;
}) => (
  <div className="skeleton" role="status" aria-label={label}>
    {Array.from({ length: lines }, (_, index) => (
      <div key={index} className="skeleton-line" style={{ inlineSize: `${90 - ((index * 37) % 45)}%` }} />
    ))}
  </div>
);
