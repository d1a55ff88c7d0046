import type { Queue, RateLimitResponse } from '@millrace/contract';
import { readableDuration } from '@millrace/contract/plain';
import { Time } from '../../parts/time/time.tsx';

/** Formatted such as `100 in 1m, at most 10 at once`. */
export function rateText({ limit, period, burst, key }: RateLimitResponse): string {
  const atOnce =
    burst === 1 && limit > 1 ? ', evenly spaced' : burst < limit ? `, at most ${burst} at once` : '';
  return `${limit.toLocaleString('en')} in ${readableDuration(period * 1_000)}${atOnce}${key ? ' for each key' : ''}`;
}

/** The rate limit, its current remainder, and the limit declared in code if it is overridden. */
export function RateLimitCell({ rateLimit }: { readonly rateLimit: Queue['rateLimit'] }) {
  const { current, base, isOverridden, overriddenAt, available, nextStartAt } = rateLimit;
  return (
    <span>
      {current === null ? 'none' : rateText(current)}
      {available !== null && (
        <span className={available === 0 ? 'tone-waiting' : 'muted'}>
          {' · '}
          {available.toLocaleString('en')} may start now
          {nextStartAt !== null && (
            <>
              , the next <Time at={nextStartAt} />
            </>
          )}
        </span>
      )}
      {isOverridden && (
        <span className="muted">
          {' · set '}
          {overriddenAt !== null && <Time at={overriddenAt} />}, in the code{' '}
          {base === null ? 'none' : rateText(base)}
        </span>
      )}
    </span>
  );
}
