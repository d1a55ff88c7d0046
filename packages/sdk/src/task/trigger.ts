import type { ApiClient } from '../client/api-client.ts';
import { currentClient } from '../client/current-client.ts';
import { keyMembers } from '../idempotency-keys/create.ts';
import { encode } from '../payload/encode.ts';
import { UnserializableError } from '../payload/unserializable-error.ts';
import type { TypedText } from '../packets/content.ts';
import { isLarge, storedType, storePayload } from '../packets/packets.ts';
import { withinAttempt } from '../run-scope.ts';
import { codecOf } from '../sealing/codec.ts';
import { sealMetadata, sealText } from '../sealing/values.ts';
import { wireOptions, type TriggerOptions } from './trigger-options.ts';
import type { AnyTask, RunHandle, TaskId, TaskInput, TaskOutput, TriggerArguments } from './types.ts';

/** A payload in the form in which it is sent; a large one is replaced by the name of its packet. */
interface Sent {
  readonly text: string | undefined;
  readonly type: string;
}

/** The members of a trigger's JSON object: payload and options. */
function membersOf({ text, type }: Sent, wire: object, path: string): string {
  let optionText: string;
  try {
    optionText = JSON.stringify(type === 'application/json' ? wire : { ...wire, payloadType: type });
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new UnserializableError(`The ${path}options cannot be serialized: ${reason}`, { cause });
  }
  const parts: string[] = [];
  // JSON is embedded as a value, other types as a string.
  if (text !== undefined)
    parts.push(`"payload":${type === 'application/json' ? text : JSON.stringify(text)}`);
  if (optionText !== '{}') parts.push(`"options":${optionText}`);
  return parts.join(',');
}

/** A payload in the form in which it is sent. Synchronous, unless it is large and stored first. */
function sentOf(client: ApiClient, task: string, payload: unknown, path: string): Sent | Promise<Sent> {
  const encoded: Sent = encode(payload, `${path}payload`);
  const { text, type } = encoded;
  if (text === undefined) return encoded;
  const codec = codecOf(client);
  if (codec)
    return sealText(codec, { text, type }, `payload ${task}`).then((sealed) => stored(client, sealed));
  return isLarge(text) ? stored(client, { text, type }) : encoded;
}

async function stored(client: ApiClient, content: TypedText): Promise<Sent> {
  return isLarge(content.text) ? { text: await storePayload(client, content), type: storedType } : content;
}

/**
 * The members of a trigger's JSON object. A large payload is stored first. Synchronous if possible.
 * @param task the task of the payload
 * @param path prefix for errors: the position of the payload and options, such as `items[3].`
 */
export function triggerMembers(
  client: ApiClient,
  task: string,
  payload: unknown,
  options: TriggerOptions = {},
  waitKey?: string,
  path = '',
): string | Promise<string> {
  // Evaluated first, because no payload must be in the process of being sealed or stored if it throws.
  const wire = wireOptions(options, client.settings.isAmbient, waitKey, path);
  const sent = sentOf(client, task, payload, path);
  const { idempotencyKey } = options;
  const metadata = wire.metadata === undefined ? undefined : sealedMetadata(client, wire.metadata);
  if (idempotencyKey === undefined && !(sent instanceof Promise) && metadata === undefined)
    return membersOf(sent, wire, path);
  return Promise.all([sent, idempotencyKey === undefined ? {} : keyMembers(idempotencyKey), metadata]).then(
    ([ready, key, replaced]) => membersOf(ready, { ...wire, ...replaced, ...key }, path),
  );
}

/** The sealed metadata option; undefined if no codec changes it. */
function sealedMetadata(
  client: ApiClient,
  metadata: unknown,
): Promise<{ readonly metadata: unknown }> | undefined {
  const codec = codecOf(client);
  return codec && sealMetadata(codec, metadata).then((sealed) => ({ metadata: sealed }));
}

/** Triggers through the given client. With a `waitKey`, code that is executed again finds the run that it triggered before. */
export async function triggerThrough<TId extends string, TOutput>(
  client: ApiClient,
  taskIdentifier: TId,
  payload: unknown,
  options: TriggerOptions | undefined,
  waitKey?: string,
): Promise<RunHandle<TId, TOutput>> {
  return withinAttempt(() => sendTrigger(client, taskIdentifier, payload, options, waitKey));
}

async function sendTrigger<TId extends string, TOutput>(
  client: ApiClient,
  taskIdentifier: TId,
  payload: unknown,
  options: TriggerOptions | undefined,
  waitKey: string | undefined,
): Promise<RunHandle<TId, TOutput>> {
  const members = triggerMembers(client, taskIdentifier, payload, options, waitKey);
  const triggered = await client.trigger(
    taskIdentifier,
    typeof members === 'string' ? members : await members,
  );
  const { id, isCached, isDropped = false } = triggered;
  return {
    id,
    taskIdentifier,
    isCached,
    isDropped,
    get publicAccessToken() {
      return triggered.publicAccessToken;
    },
  };
}

/**
 * Triggers a run of a task by its id, without importing the task's code. Pass its type to have payload and output checked. Otherwise like the
 * task's own `trigger`.
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
