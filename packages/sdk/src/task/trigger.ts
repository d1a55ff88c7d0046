import type { ApiClient } from '../client/api-client.ts';
import { currentClient } from '../client/current-client.ts';
import { encode, UnserializableError } from '../payload/encode.ts';
import { wireOptions, type TriggerOptions } from './trigger-options.ts';
import type { AnyTask, RunHandle, TaskId, TaskInput, TaskOutput, TriggerArguments } from './types.ts';

/** The members of a trigger's JSON object: payload and options. */
function membersOf(payload: unknown, options: TriggerOptions | undefined, isAmbient: boolean): string {
  const { text, type } = encode(payload, 'payload');
  const wire = wireOptions(options ?? {}, isAmbient);
  let optionText: string;
  try {
    optionText = JSON.stringify(type === 'application/json' ? wire : { ...wire, payloadType: type });
  } catch (cause) {
    throw new UnserializableError(`The options cannot be serialized: ${(cause as Error).message}`, { cause });
  }
  const parts: string[] = [];
  // JSON goes as the value itself, the other types as a string that holds them.
  if (text !== undefined)
    parts.push(`"payload":${type === 'application/json' ? text : JSON.stringify(text)}`);
  if (optionText !== '{}') parts.push(`"options":${optionText}`);
  return parts.join(',');
}

/** Triggers through a given client. */
export async function triggerThrough<TId extends string, TOutput>(
  client: ApiClient,
  taskIdentifier: TId,
  payload: unknown,
  options: TriggerOptions | undefined,
): Promise<RunHandle<TId, TOutput>> {
  const members = membersOf(payload, options, client.settings.isAmbient);
  const { id, isCached, publicAccessToken } = await client.trigger(taskIdentifier, members);
  return { id, taskIdentifier, isCached, publicAccessToken };
}

/**
 * Starts a run of a task by its id, where importing the task itself would bring its code along. Name its type to have payload
 * and output checked. Otherwise as the task's own `trigger`.
 *
 * @example
 * import type { resizeImage } from './tasks/images.ts';
 * const handle = await tasks.trigger<typeof resizeImage>('resize-image', { url });
 */
export async function trigger<T extends AnyTask = AnyTask>(
  taskIdentifier: TaskId<T>,
  ...[payload, options]: TriggerArguments<TaskInput<T>>
): Promise<RunHandle<TaskId<T>, TaskOutput<T>>> {
  return triggerThrough(currentClient(), taskIdentifier, payload, options);
}
