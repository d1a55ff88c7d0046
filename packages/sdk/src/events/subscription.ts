import type { TaskManifest } from '@millrace/contract/runner';
import type { StandardSchemaV1 } from '@standard-schema/spec';

/** Equal to a value, or what the operators say: all of them. Values of another type never match an order. */
export interface EventOperators {
  readonly $eq?: string | number | boolean | null;
  /** Not equal, or not there. */
  readonly $ne?: string | number | boolean | null;
  readonly $in?: readonly (string | number | boolean | null)[];
  /** None of these, or not there. */
  readonly $nin?: readonly (string | number | boolean | null)[];
  /** Numbers by size, strings by their code units: dates of ISO 8601 are in order. */
  readonly $gt?: number | string;
  readonly $gte?: number | string;
  readonly $lt?: number | string;
  readonly $lte?: number | string;
  /** A string that begins so. */
  readonly $prefix?: string;
  /** A list with this in it. */
  readonly $contains?: string | number | boolean | null;
  /** There at all, be it null. */
  readonly $exists?: boolean;
}

/** What the fields of a payload must be like; all of them must hold. At most 100 conditions, nested at most 8 deep. */
export interface EventFilter {
  readonly [field: string]: string | number | boolean | null | EventOperators | EventFilter;
}

/** Which events start a task. Made by `event`. */
export interface EventSubscription<TSchema extends StandardSchemaV1 | undefined = undefined> {
  readonly name: string;
  readonly filter?: EventFilter | undefined;
  readonly schema?: TSchema | undefined;
}

/**
 * The events that start a task: its `on`. Each event that matches gives the task one run, with the event's payload; `ctx.event` tells
 * the rest. What is declared holds from the moment that a version with it is registered.
 *
 * `name` is a name such as `order.created`, in which whole segments may be `*` (any one) and the last one `**` (one or more).
 * `filter` says what the payload must be like. `schema` checks it before `run`, as a task's schema does: a payload that does not fit
 * fails the run at once.
 *
 * @example
 * export const bigOrders = task({
 *   id: 'big-orders',
 *   on: event({
 *     name: 'order.*',
 *     filter: { total: { $gte: 1_000 }, customer: { country: { $in: ['FR', 'BE'] } } },
 *     schema: z.object({ total: z.number() }),
 *   }),
 *   run: async ({ total }, { ctx }) => notify(ctx.event?.name, total),
 * });
 */
export function event<TSchema extends StandardSchemaV1>(
  options: EventSubscription<TSchema> & { readonly schema: TSchema },
): EventSubscription<TSchema> & { readonly schema: TSchema };
export function event(options: EventSubscription): EventSubscription;
export function event(options: EventSubscription<StandardSchemaV1 | undefined>): EventSubscription<never> {
  return options as EventSubscription<never>;
}

type Refuse = (field: string, rule: string, value: unknown) => never;

/** A subscription for the manifest. Only its form is checked here; the server checks it when the version is registered. */
export function declaredSubscription(
  refuse: Refuse,
  on: EventSubscription<StandardSchemaV1 | undefined> | undefined,
): TaskManifest['on'] {
  if (on === undefined) return undefined;
  if (typeof on !== 'object' || on === null) refuse('on', "must be event({ name: '…' })", on);
  const { name, filter } = on;
  if (typeof name !== 'string' || name === '' || name.length > 255) {
    refuse(
      'on.name',
      'must be the name of an event of 1 to 255 characters, such as order.created or order.*',
      name,
    );
  }
  if (filter !== undefined && (typeof filter !== 'object' || filter === null || Array.isArray(filter))) {
    refuse('on.filter', "must be an object of fields, such as { plan: 'pro' }", filter);
  }
  return { name, filter };
}
