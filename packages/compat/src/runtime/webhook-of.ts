import type { WebhookEndpoints, Verifier } from './webhook-endpoints.ts';

/** The verification of a webhook as our SDK declares it. */
interface Verification {
  readonly scheme: string;
  readonly secret: readonly string[];
  readonly header?: string;
  readonly algorithm?: string;
  readonly encoding?: string;
  readonly prefix?: string;
  readonly idHeader?: string;
}

/** Named like the error of our SDK for an invalid declaration. */
const refused = (sentence: string): Error =>
  Object.assign(new Error(sentence), { name: 'TaskDeclarationError' });

/**
 * The webhook of a task that `webhook()` of 4.8 declares. There, secrets are stored with the endpoint; here, they are variables with the name of
 * the endpoint. Throws for endpoints that have no equivalent.
 */
export function webhookOf(task: string, endpoints: WebhookEndpoints): Verification {
  const subscriber = endpoints.of(task);
  const endpoint = endpoints.get(subscriber?.endpointId ?? '');
  if (!subscriber || !endpoint)
    throw refused(`webhook "${task}": its endpoint is not declared: use webhooks.endpoint.define`);
  const { id, source, verifierArtifact } = endpoint;
  const others = endpoints.subscribers().filter(({ endpointId }) => endpointId === id);
  if (others.length > 1)
    throw refused(
      `webhook "${task}": the endpoint "${id}" has ${others.length} webhooks, and an address has one here: handle all events in one onEvent`,
    );
  if (subscriber.target.filter !== undefined)
    throw refused(
      `webhook "${task}": filter is not supported: check the event in onEvent, and return for others`,
    );
  const verification = verificationOf(verifierArtifact);
  if (!verification)
    throw refused(
      `webhook "${task}": Millrace does not verify the requests of the source "${source}": declare a webhook of @millrace/sdk with ` +
        "scheme: 'none', and verify rawBody in onEvent",
    );
  const secret = secretOf(id);
  return { ...verification, secret: [secret, `${secret}_NEXT`] };
}

/** The variable with the secret of an endpoint: `STRIPE_WEBHOOK_SECRET` for `stripe` and for `stripe-webhook`. */
export function secretOf(endpoint: string): string {
  const name = endpoint.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  const short = name.replace(/_?WEBHOOKS?_?$/, '').replace(/^_+|_+$/g, '');
  const start = /^\d/.test(short) ? '_' : '';
  return `${start}${short === '' ? '' : `${short}_`}WEBHOOK_SECRET`;
}

const idAndTime = '{id}.{timestamp}.{body}';

/** Undefined for a verification that the server does not support. */
function verificationOf(verifier: Verifier): Omit<Verification, 'secret'> | undefined {
  const { config = {}, handshake, getHandshake, response } = verifier;
  const { scheme, signatureHeader: header, algorithm, encoding, signature = {}, signingString } = config;
  if (
    scheme !== 'hmac' ||
    header === undefined ||
    handshake ||
    getHandshake ||
    response ||
    config.formPayload
  )
    return undefined;
  const template = (signingString as { template?: string } | undefined)?.template;
  if (header === 'stripe-signature') return { scheme: 'stripe' };
  if (header === 'svix-signature' && template === idAndTime) return { scheme: 'svix' };
  if (header === 'webhook-signature' && template === idAndTime) return { scheme: 'standard' };
  if (signingString !== 'raw' || config.secret !== undefined || config.additionalSignatureHeaders)
    return undefined;
  const { field, fieldSeparator, ...rest } = signature as { field?: string; fieldSeparator?: string };
  if (Object.keys(rest).length > 0) return undefined;
  const { from, name: idHeader } = config.idempotencyField ?? {};
  if (header === 'x-hub-signature-256' && idHeader === 'x-github-delivery') return { scheme: 'github' };
  return {
    scheme: 'hmac',
    header,
    algorithm,
    encoding,
    ...(field !== undefined && { prefix: `${field}${fieldSeparator ?? ''}` }),
    ...(from === 'header' && { idHeader }),
  };
}

/** A delivery as the payload that the published SDK passes to `onEvent`. Other payloads, such as those of tests, are unchanged. */
export function eventPayload(task: string, payload: unknown, endpoints: WebhookEndpoints): unknown {
  if (typeof payload !== 'object' || payload === null || !('deliveryId' in payload)) return payload;
  const { headers, body } = payload as { readonly headers?: unknown; readonly body?: unknown };
  const endpoint = endpoints.get(endpoints.of(task)?.endpointId ?? '');
  return {
    event: body,
    headers,
    ...(endpoint && {
      endpoint: { id: endpoint.id, declaredId: endpoint.id, metadata: endpoint.metadata ?? {} },
    }),
  };
}
