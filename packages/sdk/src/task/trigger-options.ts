import type { MachinePreset } from '@millrace/contract/runner';
import type { OptionsResponse, TriggerOptions as WireOptions } from '@millrace/contract';
import { asJson } from '../payload/json.ts';
import { currentRun, parentOf } from '../run-scope.ts';
import { currentTraceparent } from '../tracing/global-api.ts';
import type { QueueOptions } from './definition.ts';
import { triggerRateToWire, type TriggerRate } from './rate-limit.ts';

/** Options for one run. Defaults: those that the task declares. */
export interface TriggerOptions extends OptionsResponse {
  /** Start later: at a date, or after a duration such as `90s`, `1h30m`, `2d`. */
  delay?: Date | string;
  /** Expire if the run has not started by then: seconds, or a duration such as `10m`. 0 means never. */
  ttl?: number | string;
  /**
   * A second trigger of the same task with this key returns the first run (`isCached`). Either the result of `idempotencyKeys.create` or a
   * string, which is scoped to the triggering run, and global outside of runs.
   */
  idempotencyKey?: string | readonly string[];
  /** How long the key is remembered, such as `1h` or `30d`. Default 30 days. */
  idempotencyKeyTTL?: string;
  /**
   * Debounce: one delayed run for all triggers with this key. Each trigger postpones its start to `delay` from now. With the mode `trailing`
   * the last payload, tags and metadata are used; with `leading`, the default, the first.
   */
  debounce?: {
    /** At most 512 characters; unique per task. */
    key: string;
    /** How long after the last trigger the run starts: a duration of at least `1s`. */
    delay: string;
    mode?: 'leading' | 'trailing';
    /** The latest start, as a duration after the first trigger; longer than `delay`. Default: no limit. */
    maxDelay?: string;
  };
  /**
   * Allows at most one executing and one waiting run of the task with this key. Without a key it applies to the whole task. While such a run
   * exists, the trigger does the following (`onConflict`):
   * - `skip`: returns the existing run (`isCached`). The default, unless the task declares another;
   * - `queue`: returns the waiting run. If a run is executing and none is waiting, a new run waits for it to end;
   * - `replace`: cancels the existing run. The new run starts when that has stopped.
   */
  singleton?: { key?: string; onConflict?: 'skip' | 'queue' | 'replace' };
  /**
   * Accept no more triggers of the task with this key than the rate allows. Above the rate, `trigger` throws a RateLimitError (`onExceed:
   * 'refuse'`, the default), or returns a handle with `isDropped` and no id (`drop`). Rate and `onExceed` default to those that the task
   * declares. Triggers that wait for their run are always rejected. Batches are not counted.
   */
  triggerLimit?: { key?: string; rate?: TriggerRate; onExceed?: 'refuse' | 'drop' };
  /** For a task with `batch`: only triggers with the same key share a run. At most 512 characters. Default: one batch for the whole task. */
  batchKey?: string;
  /** A queue other than the task's own. */
  queue?: string | QueueOptions;
  /** Applies the queue's limit to each key separately, for example to each customer. */
  concurrencyKey?: string;
  /** Priority in seconds: the run starts before runs of its queue that were triggered up to this much earlier. Default 0. */
  priority?: number;
  /** At most 10, each of at most 128 characters. */
  tags?: string | string[];
  /** Number of attempts, including the first: 1 to 1,000. 1 disables retries. */
  maxAttempts?: number;
  /** Maximum duration of one attempt in seconds, at least 5. */
  maxDuration?: number;
  machine?: MachinePreset;
  /** Data stored with the run in addition to its payload, at most 256 KiB as JSON. Values that are not JSON are rejected. */
  metadata?: Record<string, unknown>;
  /** Mark the run as a test. Default false. */
  test?: boolean;
  /**
   * Run on this worker version (`20261121.3`). Default: the current one, or for runs that a run waits for (`triggerAndWait`,
   * `batchTriggerAndWait`) the version of the waiting run.
   */
  version?: string;
  /** Run on the deployment with this external id, and wait for it if it is not deployed yet. */
  externalDeploymentId?: string;
}

/** The options in the form in which they are sent. JSON omits undefined ones. */
export function wireOptions(
  options: TriggerOptions,
  isAmbient: boolean,
  waitKey: string | undefined,
  path: string,
): Omit<WireOptions, 'payloadType' | 'idempotencyKey'> {
  // Keys are hashed asynchronously.
  const { queue, version, metadata, triggerLimit, idempotencyKey: _, ...same } = options;
  const name = typeof queue === 'string' ? queue : queue?.name;
  // With another credential the run may be in another environment, which does not have this parent.
  const scope = isAmbient ? currentRun() : undefined;
  const parentRunId = parentOf(scope);
  return {
    ...same,
    ...(triggerLimit && {
      triggerLimit: {
        ...triggerLimit,
        rate: triggerLimit.rate && triggerRateToWire(triggerLimit.rate, `${path}options.triggerLimit.rate`),
      },
    }),
    ...(metadata !== undefined && { metadata: asJson(metadata, `${path}options.metadata`) }),
    queue: name === undefined ? undefined : { name },
    lockToVersion: version,
    parentRunId,
    parentFence: parentRunId === undefined ? undefined : scope?.fence,
    waitKey,
    traceparent: currentTraceparent(),
  };
}
