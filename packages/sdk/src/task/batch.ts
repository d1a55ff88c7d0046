import type { TaskManifest } from '@millrace/contract/runner';
import { parseDuration } from '../duration.ts';

/** When a run that collects payloads starts: when either limit is reached. */
export interface TaskBatchOptions {
  /** The number of payloads that starts the run: 1 to 1,000. */
  maxSize: number;
  /**
   * The time after the first payload that starts the run: seconds, or a duration such as `5s` or `10m`. At least a millisecond, at most a day.
   */
  maxWait: number | string;
}

const maxSize = 1_000;
const maxWaitSeconds = 86_400;

/** The batch settings in the form in which they are sent. `refuse` receives the field, its rule and its value. */
export function batchToWire(
  batch: TaskBatchOptions,
  refuse: (field: string, rule: string, value: unknown) => never,
): NonNullable<TaskManifest['batch']> {
  const options: unknown = batch;
  if (typeof options !== 'object' || options === null)
    return refuse('batch', "must be an object such as { maxSize: 100, maxWait: '5s' }", options);
  const { maxSize: size, maxWait } = batch;
  if (!Number.isInteger(size) || size < 1 || size > maxSize)
    return refuse('batch.maxSize', `must be a whole number from 1 to ${maxSize}`, size);
  const seconds = typeof maxWait === 'string' ? parseDuration(maxWait) : maxWait;
  if (typeof seconds !== 'number' || !(seconds >= 0.001 && seconds <= maxWaitSeconds)) {
    const rule = 'must be seconds, or a duration such as 5s or 10m, from a millisecond to a day';
    return refuse('batch.maxWait', rule, maxWait);
  }
  return { maxSize: size, maxWaitMs: Math.ceil(seconds * 1_000) };
}
