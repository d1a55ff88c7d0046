import type { MachinePreset } from '@millrace/contract/runner';
import type { ShownOptions, TriggerOptions as WireOptions } from '@millrace/contract';
import { asJson } from '../payload/json.ts';
import { currentRun, parentOf } from '../run-scope.ts';
import type { QueueOptions } from './definition.ts';

/** Options of one run. What is left out is as the task declares it. */
export interface TriggerOptions extends ShownOptions {
  /** Start later: at a date, or after a duration such as `90s`, `1h30m`, `2d`. */
  delay?: Date | string;
  /** Expire if it has not started by then: seconds, or a duration such as `10m`. 0 is never. */
  ttl?: number | string;
  /**
   * A second trigger of the same task with this key returns the first run (`isCached`). One that `idempotencyKeys.create` made, or a
   * text: then it means this run's own when a run triggers, and is global elsewhere.
   */
  idempotencyKey?: string | readonly string[];
  /** How long the key is remembered, such as `1h` or `30d`. Default 30 days. */
  idempotencyKeyTTL?: string;
  /**
   * Let one delayed run stand for all triggers with this key: each of them pushes its start to `delay` from now, and with the mode
   * `trailing` gives it its own payload, tags and metadata; `leading`, the default, keeps the first ones.
   */
  debounce?: {
    /** At most 512 characters; it belongs to the task. */
    key: string;
    /** How long after the last trigger the run starts: a duration of at least `1s`. */
    delay: string;
    mode?: 'leading' | 'trailing';
    /** It starts so long after the first trigger at the latest, whatever comes: longer than `delay`. Default: for ever. */
    maxDelay?: string;
  };
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
  /** Data kept with the run beside its payload, at most 256 KiB as JSON; what JSON does not hold is refused. */
  metadata?: Record<string, unknown>;
  /** Mark the run as a test. Default false. */
  test?: boolean;
  /** Run on this worker version (`20261121.3`) instead of the current one. */
  version?: string;
}

/** The options as they are sent. Undefined ones vanish in JSON. */
export function wireOptions(
  options: TriggerOptions,
  isAmbient: boolean,
  waitKey: string | undefined,
  place: string,
): Omit<WireOptions, 'payloadType' | 'idempotencyKey'> {
  // The key is made elsewhere: that takes its time.
  const { queue, version, metadata, idempotencyKey: _, ...same } = options;
  const name = typeof queue === 'string' ? queue : queue?.name;
  // With a credential of one's own the run may be in another environment, which does not know this parent.
  const scope = isAmbient ? currentRun() : undefined;
  const parentRunId = parentOf(scope);
  return {
    ...same,
    ...(metadata !== undefined && { metadata: asJson(metadata, `${place}options.metadata`) }),
    queue: name === undefined ? undefined : { name },
    lockToVersion: version,
    parentRunId,
    parentFence: parentRunId === undefined ? undefined : scope?.fence,
    waitKey,
  };
}
