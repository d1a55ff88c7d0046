import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { MasterKey } from '../../auth/seal.ts';
import { newTimedId } from '../../db/ids.ts';
import { Problem } from '../../problem.ts';
import { jsonOf, storedHeaders } from './content.ts';
import { digestPrefix, type Delivery } from './delivery.ts';
import { createFindWebhook, type FoundWebhook } from './find.ts';
import { prepareWebhookRun } from './prepare.ts';
import type { Rejections } from './rejections.ts';
import type { Repetitions } from './repetitions.ts';
import { verifyRequest } from './schemes/index.ts';
import type { Rejection, SignedRequest, Verified } from './schemes/scheme.ts';
import { createReadSecrets, secretNames } from './secrets.ts';
import { createStore, type Stored, type StoreDependencies } from './store.ts';

export interface ReceiveDependencies extends StoreDependencies {
  readonly masterKey: MasterKey;
  readonly rejections: Rejections;
  readonly repetitions: Repetitions;
}

/** A request to a webhook. */
export interface WebhookRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Called with a valid request before anything is stored. Throws a Problem if the webhook receives too many. */
  readonly admit: () => void;
}

/** Receives requests of other services. */
export interface Webhooks {
  /** Throws a 404 Problem unless a webhook has the address. */
  find(address: string): Promise<FoundWebhook>;
  /** Stores a request and starts its run. Returns the reply: for a request that is not an event, another object. Throws a Problem for an invalid request. */
  receive(webhook: FoundWebhook, request: WebhookRequest): Promise<Stored | object>;
}

export function createWebhooks(dependencies: ReceiveDependencies): Webhooks {
  const { engine, masterKey, rejections, repetitions } = dependencies;
  const { clock } = engine;
  const store = createStore(dependencies);
  const readSecrets = createReadSecrets(engine.sql, masterKey);

  async function verify(
    { id, environment, verification }: FoundWebhook,
    request: SignedRequest,
    now: number,
  ): Promise<Verified> {
    const names = secretNames(verification);
    const secrets = await readSecrets(environment.id, names);
    const verdict =
      names.length > 0 && secrets.length === 0
        ? 'webhook_secret_missing'
        : verifyRequest(verification, secrets, request, now);
    if (typeof verdict !== 'string') return verdict;
    rejections.add(environment.id, id, verdict, new Date(now));
    throw verdict === 'webhook_secret_missing' ? secretMissing() : rejected(verdict);
  }

  return {
    find: createFindWebhook(engine),

    async receive(webhook, { headers, body, admit }) {
      const { id, environment } = webhook;
      const now = clock.now();
      let value: { readonly json: unknown } | undefined;
      const json = (): unknown => (value ??= { json: jsonOf(body) }).json;
      const verified = await verify(webhook, { headers, body, json }, now);
      if (verified.reply !== undefined) return verified.reply;
      admit();
      const deliveryId = newTimedId('whd', now);
      const delivery: Delivery = {
        id: deliveryId,
        webhook: id,
        senderId: senderIdOf(webhook, verified, body) ?? deliveryId,
        headers: storedHeaders(headers),
        body,
        receivedAt: new Date(now),
      };
      const run = await prepareWebhookRun(engine, environment, delivery, { json });
      const stored = await store({ delivery, run });
      if (stored.isDuplicate) repetitions.add(environment.id, stored.id);
      return stored;
    },
  };
}

const maxSenderId = 255;

/**
 * The id by which repeated requests are recognized: that of the sender, otherwise a digest of the signed content. Undefined for a webhook that is
 * not verified: its requests may be equal without being repetitions.
 */
function senderIdOf(
  { verification }: FoundWebhook,
  { senderId, signedAt }: Verified,
  body: Buffer,
): string | undefined {
  const digest = createHash('sha256');
  if (senderId === undefined || senderId === '') {
    if (verification.scheme === 'none') return undefined;
    digest.update(`${signedAt ?? ''}.`).update(body);
  } else {
    const isStorable = senderId.length <= maxSenderId && !senderId.includes('\0') && senderId.isWellFormed();
    if (isStorable && !senderId.startsWith(digestPrefix)) return senderId;
    digest.update(senderId);
  }
  return digestPrefix + digest.digest('hex');
}

export const secretMissing = () =>
  new Problem(
    'webhook_secret_missing',
    'The secret of this webhook is not set in its environment, so its requests cannot be verified.',
    {},
    true,
  );

const reasons: Readonly<Record<Rejection, string>> = {
  webhook_signature_missing: 'The request has no signature, or lacks a header that belongs to it.',
  webhook_signature_invalid: 'The signature of the request is not valid.',
  webhook_timestamp_invalid:
    'The signed time of the request is more than five minutes from the time of the server, or not a time.',
};

const rejected = (code: Rejection) => new Problem(code, reasons[code], {}, false);
