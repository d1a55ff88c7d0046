import type { MachinePreset } from '@millrace/contract/runner';
import type { TriggerOptions as WireOptions } from '@millrace/contract';
import { currentRun } from '../run-scope.ts';
import type { QueueOptions } from './definition.ts';

/** Options of one run. What is left out is as the task declares it. */
export interface TriggerOptions {
  /** Start later: at a date, or after a duration such as `90s`, `1h30m`, `2d`. */
  delay?: Date | string;
  /** Expire if it has not started by then: seconds, or a duration such as `10m`. 0 is never. */
  ttl?: number | string;
  /** A second trigger of the same task with this key returns the first run (`isCached`). At most 2,048 characters. */
  idempotencyKey?: string;
  /** How long the key is remembered, such as `1h` or `30d`. Default 30 days. */
  idempotencyKeyTTL?: string;
  /** Another queue than the task's. */
  queue?: string | QueueOptions;
  /** Runs of one key have the queue's limit for themselves: for instance one limit for each customer. */
  concurrencyKey?: string;
  /** Seconds of advantage: goes before runs of its queue that were triggered up to so much earlier. Default 0. */
  priority?: number;
  /** At most 10, each of at most 128 characters. */
  tags?: string | string[];
  /** All attempts, the first included; 1 is no retry. */
  maxAttempts?: number;
  /** Seconds that one attempt may take, at least 5. */
  maxDuration?: number;
  machine?: MachinePreset;
  /** Data kept with the run beside its payload, at most 256 KiB as JSON. */
  metadata?: Record<string, unknown>;
  /** Mark the run as a test. Default false. */
  test?: boolean;
  /** Run on this worker version (`20261121.3`) instead of the current one. */
  version?: string;
}

/** The options as they are sent. Undefined ones vanish in JSON. */
export function wireOptions(options: TriggerOptions, isAmbient: boolean): Omit<WireOptions, 'payloadType'> {
  const { queue, version, ...same } = options;
  const name = typeof queue === 'string' ? queue : queue?.name;
  return {
    ...same,
    queue: name === undefined ? undefined : { name },
    lockToVersion: version,
    // With a credential of one's own the run may be in another environment, which does not know this parent.
    parentRunId: isAmbient ? currentRun()?.run : undefined,
  };
}
