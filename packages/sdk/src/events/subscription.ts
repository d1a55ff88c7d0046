import type { TaskManifest } from '@millrace/contract/runner';
import type { StandardSchemaV1 } from '@standard-schema/spec';

/** Equal to a value, or matching all of the operators. Values of another type never match an ordering operator. */
export interface EventOperators {
  readonly $eq?: string | number | boolean | null;
  /** Not equal, or missing. */
  readonly $ne?: string | number | boolean | null;
  readonly $in?: readonly (string | number | boolean | null)[];
  /** None of these, or missing. */
  readonly $nin?: readonly (string | number | boolean | null)[];
  /** Numbers are compared by value, strings by code units, so ISO 8601 dates are in chronological order. */
  readonly $gt?: number | string;
  readonly $gte?: number | string;
  readonly $lt?: number | string;
  readonly $lte?: number | string;
  /** A string with this prefix. */
  readonly $prefix?: string;
  /** A list that contains this value. */
  readonly $contains?: string | number | boolean | null;
  /** Whether the field exists, even if it is null. */
  readonly $exists?: boolean;
}

/** Conditions on the fields of a payload, all of which must match. At most 100 conditions, nested at most 8 levels deep. */
export interface EventFilter {
  readonly [field: string]: string | number | boolean | null | EventOperators | EventFilter;
}

/** The events that trigger a task. Created with `event`. */
export interface EventSubscription<TSchema extends StandardSchemaV1 | undefined = undefined> {
  readonly name: string;
  readonly filter?: EventFilter | undefined;
  readonly schema?: TSchema | undefined;
}

/**
 * The events that trigger a task, for its `on`. Each matching event triggers one run of the task with the event's payload; `ctx.event` has the
 * other fields. The subscription takes effect when a version that declares it is registered.
 *
 * `name` is a name such as `order.created`, in which whole segments may be `*` (any one) and the last one `**` (one or more). `filter`
 * restricts the payload. `schema` validates the payload before `run`, like a task's schema: an invalid payload fails the run immediately.
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

/** A subscription in the manifest. Only its form is checked here; the server validates it when the version is registered. */
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
