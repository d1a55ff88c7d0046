import type { TriggerOptions } from '@millrace/contract';
import type { TaskManifest } from '@millrace/contract/runner';
import { unprocessable } from '../../problem.ts';
import type { Singleton } from './row.ts';

/** A task's own singleton applies to triggers without one. A debounce has its own way of merging triggers. */
export function readSingleton(
  { singleton: requested, debounce }: Pick<TriggerOptions, 'singleton' | 'debounce'>,
  declared: TaskManifest['singleton'],
): Singleton {
  if (debounce !== undefined) {
    throw unprocessable(
      `options.debounce: the ${requested ? 'trigger' : 'task'} also has a singleton. Use one of the two.`,
    );
  }
  return {
    key: requested?.key ?? '',
    onConflict: requested?.onConflict ?? declared?.onConflict ?? 'skip',
  };
}
