import type { TriggerOptions } from '@millrace/contract';
import type { TaskManifest } from '@millrace/contract/runner';
import { Problem, unprocessable } from '../../problem.ts';
import type { NewRun } from './row.ts';

/** Triggers above it are refused. */
export interface TriggerLimit {
  /** Empty for the whole task. */
  readonly key: string;
  /** No more than these are accepted in any span. */
  readonly burst: number;
  /** Microseconds. As many spans as there are bursts in the limit fit into its period. */
  readonly span: number;
  readonly drops: boolean;
}

/** A task's own limit holds for triggers that bring none. A trigger whose run is waited for is never dropped: somebody needs an answer. */
export function readTriggerLimit(
  { triggerLimit: given, waitKey }: Pick<TriggerOptions, 'triggerLimit' | 'waitKey'>,
  manifest: TaskManifest | undefined,
): TriggerLimit | undefined {
  const declared = manifest?.triggerLimit;
  if (given === undefined && declared === undefined) return undefined;
  const rate = given?.rate ?? declared?.rate;
  if (rate === undefined) {
    throw unprocessable(
      'options.triggerLimit.rate: the task declares no trigger limit, so the trigger must bring one.',
    );
  }
  const { limit, period, burst = limit } = rate;
  return {
    key: given?.key ?? '',
    burst,
    span: Math.ceil((period * 1_000_000) / Math.floor(limit / burst)),
    drops: waitKey === undefined && (given?.onExceed ?? declared?.onExceed) === 'drop',
  };
}

/** What `limit_triggers` says of a trigger that it refused; undefined for another refusal. */
export function exceededLimit(
  refused: string,
  { task, triggerLimit }: Pick<NewRun, 'task' | 'triggerLimit'>,
): Problem | 'dropped' | undefined {
  const [, how, until] = /^(limited|dropped) (\d+)$/.exec(refused) ?? [];
  if (how === undefined) return undefined;
  if (how === 'dropped') return 'dropped';
  const retryAt = new Date(Number(until)).toISOString();
  const whose = triggerLimit?.key
    ? `the key "${triggerLimit.key}" of the task "${task}"`
    : `the task "${task}"`;
  return new Problem(
    429,
    `The trigger limit of ${whose} is used up. The next trigger is accepted at ${retryAt}.`,
    { code: 'trigger_limit_exceeded', retryAt },
    false,
  );
}
