import type { Hooks } from '../hooks/types.ts';
import type { RunArguments, TaskDefinition, TaskSettings, Uninferred } from '../task/definition.ts';
import { task } from '../task/task.ts';
import type { Task } from '../task/types.ts';
import type { WebhookVerification } from './verification.ts';

/** A request of another service. */
export interface WebhookEvent<TBody = unknown> {
  /** The sender's id of the request, such as the id of a Stripe event. Null if the sender has none. */
  readonly id: string | null;
  /** The id of the webhook. */
  readonly webhook: string;
  /** The id of the delivery: the same in each run with this request, also after a replay. */
  readonly deliveryId: string;
  /** When it was received, in ISO 8601. */
  readonly receivedAt: string;
  /** The headers of the request, with names in lower case and without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body: the value of JSON, the fields of a form, otherwise the text. Null for a body that is not text. */
  readonly body: TBody;
  /** The body as it was received, for example to verify it again with a library of the provider. */
  readonly rawBody: string;
  /** Whether `rawBody` is in base64, because the body is not UTF-8. */
  readonly isBase64Encoded: boolean;
}

/** A webhook. Its runs take the options of a task, except those that would drop requests which were accepted. */
export interface WebhookOptions<TId extends string, TBody, TOutput>
  extends
    Omit<TaskSettings<TId>, 'singleton' | 'triggerLimit'>,
    Hooks<WebhookEvent<Uninferred<TBody>>, Uninferred<Awaited<TOutput>>> {
  /** How requests are verified. */
  verify: WebhookVerification;
  /** Called in a run for each request. If it throws, the attempt fails and is retried. */
  onEvent: (event: WebhookEvent<TBody>, args: RunArguments) => TOutput;
}

/**
 * Declares a webhook: an address at which another service starts runs of `onEvent` with signed requests. Export it like a task.
 * `millrace webhooks list` shows the address, which stays the same over all versions. The server verifies and stores a request, starts its run,
 * and replies at once. A request that the provider sends again starts no other run.
 *
 * @example
 * export const stripeEvents = webhook({
 *   id: 'stripe',
 *   verify: { scheme: 'stripe', secret: 'STRIPE_WEBHOOK_SECRET' },
 *   onEvent: async (event: WebhookEvent<Stripe.Event>) => {
 *     if (event.body.type === 'invoice.paid') await recordPayment(event.body.data.object);
 *   },
 * });
 */
export function webhook<const TId extends string, TBody = unknown, TOutput = unknown>({
  verify,
  onEvent,
  ...settings
}: WebhookOptions<TId, TBody, TOutput>): Task<TId, WebhookEvent<TBody>, Awaited<TOutput>> {
  const definition: Pick<TaskDefinition, 'webhook'> & typeof settings = {
    ...settings,
    // A missing `verify` is reported with the file when the task is loaded.
    webhook: verify ?? (null as never),
  };
  return task({ ...definition, run: onEvent });
}
