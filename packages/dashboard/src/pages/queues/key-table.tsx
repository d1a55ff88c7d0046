import type { QueueKey } from '@millrace/contract';
import { Empty } from '../../parts/empty.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { Time } from '../../parts/time/time.tsx';
import { Load } from './load.tsx';

interface KeyTableProps {
  readonly keys: readonly QueueKey[];
  readonly limit: number | null;
  /** Whether there are more keys with runs. */
  readonly isCut: boolean;
}

/** The concurrency keys of a queue. The queue's limit applies to each separately. */
export function KeyTable({ keys, limit, isCut }: KeyTableProps) {
  if (!keys.some(({ key }) => key !== null))
    return (
      <Empty title="No run in this queue has a concurrency key.">
        A key divides a queue: for example, each customer gets a separate queue and limit.{' '}
        <code>{"trigger(payload, { concurrencyKey: 'customer-42' })"}</code>
      </Empty>
    );
  return (
    <div className="card scroll-x" tabIndex={0} role="region" aria-label="Concurrency keys">
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">Concurrency key</th>
            <th scope="col">Running</th>
            <th scope="col" className="is-end">
              Waiting
            </th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {keys.map(({ key, running, queued, available, nextStartAt }) => (
            <tr key={key ?? ''}>
              <th scope="row" className="key-name">
                {key === null ? <span className="muted">no key</span> : <code>{visibleControls(key)}</code>}
              </th>
              <td>
                <Load running={running} limit={limit} />
              </td>
              <td className="is-end number">{queued.toLocaleString('en')}</td>
              <td>
                {limit !== null && running >= limit && queued > 0 ? (
                  <span className="tone-waiting">at its limit</span>
                ) : available === 0 && nextStartAt !== undefined && queued > 0 ? (
                  <span className="tone-waiting">
                    next start <Time at={nextStartAt} />
                  </span>
                ) : (
                  <span className="muted">–</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {isCut && (
        <p className="muted small card-note">
          The {keys.length} keys with the most waiting runs are shown. There are more.
        </p>
      )}
    </div>
  );
}
