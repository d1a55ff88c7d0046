import { currentClient } from '../client/current-client.ts';

export interface SendWebhookOptions {
  /** The body: a text is sent unchanged, another value as JSON. Default `{}`. */
  body?: unknown;
  /** Default `application/json`. */
  contentType?: string;
  /** Additional headers, such as `X-GitHub-Event`. */
  headers?: Readonly<Record<string, string>>;
  /** The sender's id of the request, for schemes that send it in a header. Default: a random UUID. */
  id?: string;
}

/**
 * Sends a test request to a webhook of the current version. The server signs it with the secret of the environment, then verifies and stores it
 * like a request of the provider. Throws a NotFoundError for an unknown webhook, and an InternalServerError with the code
 * `webhook_secret_missing` while its secret is not set.
 *
 * @example
 * const { id } = await webhooks.send('stripe', { body: { id: 'evt_1', type: 'invoice.paid' } });
 */
export async function send(
  webhook: string,
  { body = {}, id = crypto.randomUUID(), ...options }: SendWebhookOptions = {},
): Promise<{ readonly id: string; readonly isDuplicate: boolean }> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return currentClient().call('sendWebhook', {
    params: { webhookId: webhook },
    body: { ...options, body: text, id },
  });
}
