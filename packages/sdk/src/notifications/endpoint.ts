import type {
  Body,
  NotificationDelivery as WireDelivery,
  NotificationEndpoint as WireEndpoint,
  Operations,
} from '@millrace/contract';

type Dates<T, K extends keyof T> = Omit<T, K> & {
  readonly [P in K]: Date | Extract<T[P], null>;
};
const endpointDates = ['disabledAt', 'failingSince', 'createdAt'] as const;
const deliveryDates = ['createdAt', 'dueAt', 'deliveredAt', 'lastAttemptAt'] as const;

/** A destination for notifications of an environment: a webhook, a chat that accepts Slack's format, or email. */
export type NotificationEndpoint = Dates<WireEndpoint, (typeof endpointDates)[number]>;

/** One notification to one endpoint, with its delivery status. */
export type NotificationDelivery = Dates<WireDelivery, (typeof deliveryDates)[number]>;

/** `{ url, types }` for a webhook, `{ kind: 'slack', url }`, or `{ kind: 'email', smtp, from, to }`. */
export type CreateEndpointOptions = Partial<Body<Operations['createNotificationEndpoint']>> &
  (
    | { readonly kind?: 'webhook'; readonly url: string; readonly types: readonly string[] }
    | { readonly kind: 'slack'; readonly url: string }
    | {
        readonly kind: 'email';
        readonly smtp: {
          readonly host: string;
          readonly port: number;
          readonly security: 'tls' | 'starttls' | 'none';
          readonly user?: string | undefined;
          readonly password?: string | undefined;
        };
        readonly from: string;
        readonly to: readonly string[];
      }
  );

export type UpdateEndpointOptions = Body<Operations['updateNotificationEndpoint']>;

function dated<T extends object, K extends keyof T>(wire: T, fields: readonly K[]): Dates<T, K> {
  const copy = { ...wire } as Record<K, unknown>;
  for (const field of fields) if (typeof copy[field] === 'string') copy[field] = new Date(copy[field]);
  return copy as unknown as Dates<T, K>;
}

export const endpointFromWire = <T extends WireEndpoint>(wire: T) =>
  dated(wire, endpointDates) as Omit<T, keyof NotificationEndpoint> & NotificationEndpoint;
export const deliveryFromWire = (wire: WireDelivery): NotificationDelivery => dated(wire, deliveryDates);
