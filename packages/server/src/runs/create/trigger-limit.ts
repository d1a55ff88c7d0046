import type { TriggerOptions } from '@millrace/contract';
import type { TaskManifest } from '@millrace/contract/runner';
import { Problem, unprocessable } from '../../problem.ts';
import type { NewRun, TriggerLimit } from './row.ts';

/**
 * A task's own limit applies to triggers without one. A trigger whose run is awaited is never dropped, because the caller needs a result.
 */
export function readTriggerLimit(
  { triggerLimit: requested, waitKey }: Pick<TriggerOptions, 'triggerLimit' | 'waitKey'>,
  declared: TaskManifest['triggerLimit'],
): TriggerLimit {
  const rate = requested?.rate ?? declared?.rate;
  if (rate === undefined) {
    throw unprocessable(
      'options.triggerLimit.rate: the task declares no trigger limit, so the trigger must specify the rate.',
    );
  }
  const { limit, period, burst = limit } = rate;
  return {
    key: requested?.key ?? '',
    burst,
    span: Math.ceil((period * 1_000_000) / Math.floor(limit / burst)),
    drops: waitKey === undefined && (requested?.onExceed ?? declared?.onExceed) === 'drop',
  };
}

/** The limit that rejected a trigger in `limit_triggers`; undefined for another rejection. */
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
    'trigger_limit_exceeded',
    `The trigger limit of ${whose} has been reached. The next trigger is accepted at ${retryAt}.`,
    { code: 'trigger_limit_exceeded', retryAt },
    false,
  );
}
