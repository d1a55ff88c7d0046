import type { Webhook } from '@millrace/contract';

/** A body for a test request, with an id where the scheme reads it from the body. */
export function examplePayload(scheme: Webhook['scheme'], id: string): string {
  const body =
    scheme === 'stripe'
      ? { id: `evt_${id}`, object: 'event', type: 'invoice.paid', data: { object: { id: 'in_1' } } }
      : scheme === 'slack'
        ? { event_id: `Ev${id}`, type: 'event_callback', event: { type: 'message', text: 'hello' } }
        : { test: true };
  return JSON.stringify(body, undefined, 2);
}
