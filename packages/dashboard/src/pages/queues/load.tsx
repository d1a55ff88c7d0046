interface LoadProps {
  readonly running: number;
  /** Null: no limit. */
  readonly limit: number | null;
}

/** Executing runs and their limit, as numbers and as a bar. */
export const Load = ({ running, limit }: LoadProps) => (
  <span className="load">
    <span className="number load-text">
      {running.toLocaleString('en')}
      {limit !== null && <span className="muted"> of {limit.toLocaleString('en')}</span>}
    </span>
    {limit !== null && (
      <span className="load-bar" aria-hidden="true">
        <span
          className={running >= limit ? 'is-full' : ''}
          style={{ inlineSize: `${limit === 0 ? 0 : Math.min(100, (running / limit) * 100)}%` }}
        />
      </span>
    )}
  </span>
);
