/** How an endpoint verifies requests, as registered by `webhooks.endpoint.define` of 4.8. */
export interface Verifier {
  readonly config?: {
    readonly scheme?: string;
    readonly algorithm?: string;
    readonly encoding?: string;
    readonly signatureHeader?: string;
    readonly additionalSignatureHeaders?: readonly string[];
    readonly signature?: Readonly<Record<string, unknown>>;
    readonly signingString?: unknown;
    readonly secret?: unknown;
    readonly idempotencyField?: { readonly from: string; readonly name: string };
    readonly formPayload?: unknown;
  };
  readonly getHandshake?: unknown;
  readonly handshake?: unknown;
  readonly response?: unknown;
}

export interface Endpoint {
  readonly id: string;
  readonly source: string;
  readonly verifierArtifact: Verifier;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface Subscriber {
  readonly endpointId: string;
  readonly target: { readonly type: string; readonly taskId?: string; readonly filter?: string };
}

/** The endpoints of a project, and the tasks that receive their events. */
export class WebhookEndpoints {
  readonly #endpoints = new Map<string, { readonly endpoint: Endpoint; readonly at: Error }>();
  readonly #subscribers: Subscriber[] = [];

  define(endpoint: Endpoint): void {
    this.#endpoints.set(endpoint.id, { endpoint, at: new Error(`endpoint ${endpoint.id}`) });
  }

  subscribe(subscriber: Subscriber): void {
    this.#subscribers.push(subscriber);
  }

  list(): Endpoint[] {
    return [...this.#endpoints.values()].map(({ endpoint }) => endpoint);
  }

  get(id: string): Endpoint | undefined {
    return this.#endpoints.get(id)?.endpoint;
  }

  subscribers(): readonly Subscriber[] {
    return this.#subscribers;
  }

  of(task: string): Subscriber | undefined {
    return this.#subscribers.find(({ target }) => target.taskId === task);
  }

  /** Endpoints without a task: nothing would receive their requests. */
  withoutTask(): { readonly sentence: string; readonly at: Error }[] {
    return [...this.#endpoints.values()]
      .filter(({ endpoint }) => this.#subscribers.every(({ endpointId }) => endpointId !== endpoint.id))
      .map(({ endpoint: { id }, at }) => ({
        at,
        sentence: `the webhook endpoint "${id}" has no address here, because no webhook({ endpoint }) receives its requests: add one`,
      }));
  }
}
