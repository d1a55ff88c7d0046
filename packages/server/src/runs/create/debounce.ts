import { parseDuration, type TriggerOptions } from '@millrace/contract';
import { unprocessable } from '../../problem.ts';
import { columns, facetsOf, type Debounce, type NewRun } from './row.ts';

const debounced = Object.entries(columns).filter(([, { isDebounced }]) => isDebounced);

/** The data that a run in trailing mode takes from its latest trigger. */
export const latestData = (latest: NewRun): Partial<NewRun> =>
  Object.fromEntries(debounced.map(([property]) => [property, latest[property as keyof NewRun]]));

/** The same as JSON text, by column name. Null in leading mode: the run keeps the data of its first trigger. */
export function debounceData(run: NewRun): string | null {
  if (!run.debounce?.trailing) return null;
  const members = debounced.map(([property, { name, value }]): [string, unknown] => {
    const current = property === 'pathFacets' ? facetsOf(run) : run[property as keyof NewRun];
    const own = (value(run) ?? null) === null ? null : current;
    // The driver replaces lone surrogates; jsonb would reject them.
    return [name, typeof own === 'string' ? own.toWellFormed() : own];
  });
  return JSON.stringify(Object.fromEntries(members));
}

export const minDebounceMs = 1_000;

/** Validates the option of a trigger. */
export function readDebounce({ key, delay, mode, maxDelay }: NonNullable<TriggerOptions['debounce']>): {
  readonly debounce: Debounce;
  readonly delayMs: number;
} {
  const delayMs = parseDuration(delay);
  if (typeof delayMs !== 'number') throw unprocessable(`options.debounce.delay: ${delayMs.error}`);
  if (delayMs < minDebounceMs) throw unprocessable('options.debounce.delay: must be at least 1s.');
  const maxMs = maxDelay === undefined ? null : parseDuration(maxDelay);
  if (maxMs !== null && typeof maxMs !== 'number') {
    throw unprocessable(`options.debounce.maxDelay: ${maxMs.error}`);
  }
  if (maxMs !== null && maxMs <= delayMs) {
    throw unprocessable('options.debounce.maxDelay: must be longer than options.debounce.delay.');
  }
  return { debounce: { key, maxMs, trailing: mode === 'trailing' }, delayMs };
}
