import {
  triggerThrough,
  type AnyTask,
  type RunHandle,
  type TaskId,
  type TaskInput,
  type TaskOutput,
  type TriggerArguments,
} from '@millrace/sdk/frontend';
import type { MillraceAuth } from './auth-context.ts';
import { useConnection } from './connection.ts';
import { useRequest } from './request.ts';

export interface TaskTrigger<T extends AnyTask> {
  /** Triggers a run with a payload and options. Never throws: a failure becomes `error`. */
  readonly submit: (...args: TriggerArguments<TaskInput<T>>) => void;
  /** Whether the server has not responded yet. */
  readonly isLoading: boolean;
  /** The run that was triggered last. */
  readonly handle: RunHandle<TaskId<T>, TaskOutput<T>> | undefined;
  readonly error: Error | undefined;
}

/**
 * Triggers a task from the page, with a token of `auth.createTriggerPublicToken`.
 *
 * @example
 * const { submit, handle, isLoading } = useTaskTrigger<typeof resizeImage>('resize-image', { accessToken });
 * return <button disabled={isLoading} onClick={() => submit({ url })}>Resize</button>;
 */
export function useTaskTrigger<T extends AnyTask = AnyTask>(
  task: TaskId<T>,
  options: MillraceAuth = {},
): TaskTrigger<T> {
  const { send, result, isLoading, error } = useRequest(
    task,
    useConnection(options),
    (client, ...[payload, triggerOptions]: TriggerArguments<TaskInput<T>>) =>
      triggerThrough<TaskId<T>, TaskOutput<T>>(client, task, payload, triggerOptions),
  );
  return { submit: send, handle: result, isLoading, error };
}
