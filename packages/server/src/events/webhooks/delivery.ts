import { parsedBody, rawBodyOf, jsonOf } from './content.ts';

/** An accepted request. */
export interface Delivery {
  readonly id: string;
  /** The id of the webhook, and of its task. */
  readonly webhook: string;
  /** The sender's id of the request, by which repeated requests are recognized. For requests without one, the id of the delivery. */
  readonly senderId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly receivedAt: Date;
}

/** The payload of a delivery's runs. */
export function payloadOf(delivery: Delivery, json: () => unknown = () => jsonOf(delivery.body)) {
  const { id, webhook, headers, body, receivedAt } = delivery;
  return {
    id: publicSenderId(delivery),
    webhook,
    deliveryId: id,
    receivedAt: receivedAt.toISOString(),
    headers,
    body: parsedBody(headers['content-type'], body, json),
    ...rawBodyOf(body),
  };
}

/** Prefix of an id that was derived from the request, because the sender has none. */
export const digestPrefix = 'sha256:';

/** The sender's own id; null if there is none. */
export const publicSenderId = ({ id, senderId }: Pick<Delivery, 'id' | 'senderId'>): string | null =>
  senderId === id || senderId.startsWith(digestPrefix) ? null : senderId;
