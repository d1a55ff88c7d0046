import type { AnyTask, TaskId, TaskOutput } from '@millrace/sdk/frontend';
import { useRealtimeRun, type RealtimeRun, type UseRealtimeRunOptions } from './use-realtime-run.ts';
import { useRealtimeRunWithStreams, type RealtimeRunWithStreams } from './use-realtime-run-with-streams.ts';
import { useTaskTrigger, type TaskTrigger } from './use-task-trigger.ts';

/** `enabled` and the options after it apply to following the run, `accessToken` to triggering it. */
export type UseRealtimeTaskTriggerOptions<T extends AnyTask = AnyTask> = UseRealtimeRunOptions<TaskOutput<T>>;

export type RealtimeTaskTrigger<T extends AnyTask> = TaskTrigger<T> & RealtimeRun<TaskOutput<T>>;

export type RealtimeTaskTriggerWithStreams<T extends AnyTask, TStreams> = TaskTrigger<T> &
  RealtimeRunWithStreams<TaskOutput<T>, TStreams>;

/** The options with the token of the triggered run, which can read it. */
const readingWith = <T extends AnyTask>(
  { handle }: TaskTrigger<T>,
  options: UseRealtimeTaskTriggerOptions<T>,
): UseRealtimeTaskTriggerOptions<T> => ({
  ...options,
  accessToken: handle?.publicAccessToken ?? options.accessToken,
});

/**
 * Triggers a task from the page and follows the run.
 *
 * @example
 * const { submit, run, error } = useRealtimeTaskTrigger<typeof resizeImage>('resize-image', { accessToken });
 */
export function useRealtimeTaskTrigger<T extends AnyTask = AnyTask>(
  task: TaskId<T>,
  options: UseRealtimeTaskTriggerOptions<T> = {},
): RealtimeTaskTrigger<T> {
  const triggered = useTaskTrigger<T>(task, options);
  const followed = useRealtimeRun<T>(triggered.handle?.id, readingWith(triggered, options));
  return { ...triggered, ...followed, error: triggered.error ?? followed.error };
}

/**
 * Triggers a task from the page and follows the run with its streams.
 *
 * @example
 * const { submit, run, streams } = useRealtimeTaskTriggerWithStreams<typeof chat, { answer: string }>('chat', { accessToken });
 */
export function useRealtimeTaskTriggerWithStreams<
  T extends AnyTask = AnyTask,
  TStreams extends object = Record<string, unknown>,
>(
  task: TaskId<T>,
  options: UseRealtimeTaskTriggerOptions<T> = {},
): RealtimeTaskTriggerWithStreams<T, TStreams> {
  const triggered = useTaskTrigger<T>(task, options);
  const followed = useRealtimeRunWithStreams<T, TStreams>(
    triggered.handle?.id,
    readingWith(triggered, options),
  );
  return { ...triggered, ...followed, error: triggered.error ?? followed.error };
}
