import type {
  ListedWebhookDelivery as WireListed,
  Webhook as WireWebhook,
  WebhookDelivery as WireDelivery,
} from '@millrace/contract';

type Rejection = WireWebhook['lastDay']['rejections'][number];

/** A webhook of the current version, with its address and the state of its secrets. */
export type Webhook = Omit<WireWebhook, 'lastDeliveryAt' | 'lastRejection' | 'lastDay'> & {
  readonly lastRejection: { readonly code: string; readonly at: Date } | null;
  /** When the last accepted request was received; null if none is stored. */
  readonly lastDeliveryAt: Date | null;
  /** Failed runs, and rejected requests by error code, of the last 24 hours. */
  readonly lastDay: {
    readonly failed: number;
    readonly rejections: readonly (Omit<Rejection, 'lastAt'> & { readonly lastAt: Date })[];
  };
};

type Dated<T> = Omit<T, 'receivedAt'> & { readonly receivedAt: Date };

/** An accepted request, as returned in lists. */
export type ListedWebhookDelivery = Dated<WireListed>;

/** An accepted request with its headers, its body and its runs. */
export type WebhookDelivery = Dated<WireDelivery>;

export const webhookFromWire = ({
  lastRejection,
  lastDeliveryAt,
  lastDay: { failed, rejections },
  ...same
}: WireWebhook): Webhook => ({
  ...same,
  lastRejection: lastRejection && { ...lastRejection, at: new Date(lastRejection.at) },
  lastDeliveryAt: lastDeliveryAt === null ? null : new Date(lastDeliveryAt),
  lastDay: {
    failed,
    rejections: rejections.map(({ lastAt, ...rejection }) => ({ ...rejection, lastAt: new Date(lastAt) })),
  },
});

export const deliveryFromWire = <T extends WireListed | WireDelivery>(wire: T): Dated<T> => ({
  ...wire,
  receivedAt: new Date(wire.receivedAt),
});

/** A delivery by its id, or the delivery itself. */
export type WebhookDeliveryReference = string | { readonly id: string };

/** Validates input from untyped callers. */
export function deliveryId(delivery: WebhookDeliveryReference): string {
  const id: unknown =
    typeof delivery === 'string' ? delivery : (delivery as { id?: unknown } | undefined)?.id;
  if (typeof id === 'string' && id !== '') return id;
  throw new TypeError('Pass the id of the delivery (whd_…) or the delivery itself.');
}
