/** Requests of other services to webhooks. Their signatures are the only credential, and cover the bytes of the body. */
import { webhookBodyLimit, webhookPath } from '@millrace/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import type { Environment } from '../auth/principal.ts';
import type { Log } from '../logger.ts';
import { Problem } from '../problem.ts';
import { countOpenRequest, createAddressLimit } from './address-limit.ts';
import type { Admission } from './admission.ts';
import { costOfWebhook, shareOfEnvironment } from './admission-cost.ts';
import type { HttpMetrics } from './metrics.ts';
import { sendFailure, sendJson } from './problem.ts';
import { createRateLimiter, type RateLimit, type RateLimits } from './rate-limit.ts';

interface AddressedWebhook {
  readonly id: string;
  readonly environment: Environment;
}

/** The interface of webhooks that this route requires. Both methods throw Problems. */
export interface ServedWebhooks {
  find(address: string): Promise<AddressedWebhook>;
  receive(
    webhook: AddressedWebhook,
    request: { readonly headers: IncomingHttpHeaders; readonly body: Buffer; readonly admit: () => void },
  ): Promise<unknown>;
}

interface MountDependencies {
  readonly admission: Admission;
  readonly metrics: HttpMetrics;
  readonly rateLimits: RateLimits;
  readonly log: Log;
}

const path = `${webhookPath}:address`;

interface Endpoint {
  Params: { address: string };
  Body: Buffer | undefined;
}

export function mountWebhooks(
  app: FastifyInstance,
  webhooks: ServedWebhooks,
  { admission, metrics, rateLimits, log }: MountDependencies,
): void {
  const observed = metrics.route('POST', path);
  const rejectedRequests = createAddressLimit(rateLimits.openRequests);
  const admitRequest = createWebhookLimit(rateLimits.webhooks);
  const found = new WeakMap<FastifyRequest, AddressedWebhook>();

  /** Counts a rejected request of an address: above the limit, the response is 429. */
  function refuse(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
    try {
      if (error instanceof Problem && error.status < 500 && error.status !== 429)
        countOpenRequest(rejectedRequests, request.ip, (name, value) => void reply.header(name, value));
      sendFailure(request, reply, error, log);
    } catch (tooMany) {
      sendFailure(request, reply, tooMany, log);
    }
  }

  async function respond(
    webhook: AddressedWebhook,
    request: FastifyRequest<Endpoint>,
    reply: FastifyReply,
  ): Promise<void> {
    try {
      const { headers, body = Buffer.alloc(0) } = request;
      const admit = (): void => admitRequest(webhook, (name, value) => void reply.header(name, value));
      const answer = await webhooks.receive(webhook, { headers, body, admit });
      sendJson(reply, 200, JSON.stringify(answer));
      observed.observe(200, performance.now() - request.arrivedAt);
    } catch (error) {
      refuse(request, reply, error);
    }
  }

  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.post<Endpoint>(
      path,
      {
        bodyLimit: webhookBodyLimit,
        config: { observed },
        // Before the body is read.
        onRequest(request, reply, proceed) {
          request.arrivedAt = performance.now();
          webhooks.find(request.params.address).then(
            (webhook) => {
              found.set(request, webhook);
              proceed();
            },
            (error: unknown) => refuse(request, reply, error),
          );
        },
      },
      (request, reply) => {
        const webhook = found.get(request) as AddressedWebhook;
        admission.enter(
          shareOfEnvironment(webhook.environment),
          costOfWebhook(request.body ?? Buffer.alloc(0)),
          (leave) => void respond(webhook, request, reply).finally(leave),
          (problem) => sendFailure(request, reply, problem, log),
          () => request.raw.socket.destroyed,
        );
      },
    );
  });
}

/** Limits the valid requests to each webhook; throws a 429 Problem above the limit. */
function createWebhookLimit(limit: RateLimit | undefined) {
  const limiter = limit && createRateLimiter(limit);
  return ({ id, environment }: AddressedWebhook, setHeader: (name: string, value: string) => void): void => {
    const verdict = limiter?.take(`${environment.id} ${id}`);
    if (!verdict || verdict.allowed) return;
    const seconds = Math.max(1, Math.ceil((verdict.resetAt - Date.now()) / 1_000));
    setHeader('retry-after', String(seconds));
    throw new Problem('rate_limited', `Too many requests to this webhook. Try again in ${seconds} s.`);
  };
}
