import type { MachinePreset } from '@millrace/contract/runner';
import type { ShownOptions, TriggerOptions as WireOptions } from '@millrace/contract';
import { asJson } from '../payload/json.ts';
import { currentRun, parentOf } from '../run-scope.ts';
import { currentTraceparent } from '../tracing/global-api.ts';
import type { QueueOptions } from './definition.ts';
import { triggerRateToWire, type TriggerRate } from './rate-limit.ts';

/** Options of one run. Default: as the task declares. */
export interface TriggerOptions extends ShownOptions {
  /** Start later: at a date, or after a duration such as `90s`, `1h30m`, `2d`. */
  delay?: Date | string;
  /** Expire if it has not started by then: seconds, or a duration such as `10m`. 0 is never. */
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
    /** At most 512 characters; it belongs to the task. */
    key: string;
    /** How long after the last trigger the run starts: a duration of at least `1s`. */
    delay: string;
    mode?: 'leading' | 'trailing';
    /** It starts so long after the first trigger at the latest, whatever comes: longer than `delay`. Default: for ever. */
    maxDelay?: string;
  };
  /**
   * At most one run of the task with this key executes at a time, and at most one waits. Without a key it is one for the whole task. While there
   * is one, the trigger (`onConflict`)
   * - `skip`: leads to it (`isCached`). The default, unless the task declares another;
   * - `queue`: leads to the run that waits. If one executes and none waits, a new run waits for its end;
   * - `replace`: cancels it. The new run starts when it has stopped.
   */
  singleton?: { key?: string; onConflict?: 'skip' | 'queue' | 'replace' };
  /**
   * Accept no more triggers of the task with this key than the rate allows. Above it, `trigger` throws a RateLimitError (`onExceed: 'refuse'`,
   * the default), or the handle has `isDropped` and no id (`drop`). Rate and `onExceed` default to those that the task declares. Triggers that
   * wait for their run are always refused. Batches are not counted.
   */
  triggerLimit?: { key?: string; rate?: TriggerRate; onExceed?: 'refuse' | 'drop' };
  /**
   * For a task with `batch`: triggers share a run only with those that have the same key, of at most 512 characters. Default: one batch for the
   * whole task.
   */
  batchKey?: string;
  /** Another queue than the task's. */
  queue?: string | QueueOptions;
  /** The queue's limit applies to each key separately, for instance to each customer. */
  concurrencyKey?: string;
  /** Seconds of advantage: goes before runs of its queue that were triggered up to so much earlier. Default 0. */
  priority?: number;
  /** At most 10, each of at most 128 characters. */
  tags?: string | string[];
  /** Number of attempts, the first included: 1 to 1,000. 1 means no retries. */
  maxAttempts?: number;
  /** Seconds that one attempt may take, at least 5. */
  maxDuration?: number;
  machine?: MachinePreset;
  /** Data kept with the run beside its payload, at most 256 KiB as JSON; what JSON does not hold is refused. */
  metadata?: Record<string, unknown>;
  /** Mark the run as a test. Default false. */
  test?: boolean;
  /**
   * Run on this worker version (`20261121.3`). Default: the current one, and for runs that a run waits for (`triggerAndWait`,
   * `batchTriggerAndWait`) that of the waiting run.
   */
  version?: string;
  /** Run on the deployment that carries this id of yours, and wait for it if it is not deployed yet. */
  externalDeploymentId?: string;
}

/** The options as they are sent. JSON omits undefined ones. */
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
