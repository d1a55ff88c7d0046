import type { Operations, Reply } from '@millrace/contract';
import { errorOf } from './api-error.ts';
import { exchange } from './exchange.ts';
import { pathOf, routes, type Called, type QueryValue } from './routes.ts';
import { resolveSettings, type ClientSettings, type ResolvedSettings } from './settings.ts';
import { TriggerQueue, type TriggerReply } from './trigger-queue.ts';

interface CallArguments {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: unknown;
}

/**
 * One configuration: an address, a credential, a branch. Two clients never share a request.
 * Everything public works through one of these; which one is `currentClient()`'s to say.
 */
export class ApiClient {
  readonly settings: ResolvedSettings;
  /** What the settings were made of. */
  readonly given: ClientSettings;
  readonly #triggers: TriggerQueue;

  constructor(settings: ClientSettings = {}) {
    this.given = { ...settings };
    this.settings = resolveSettings(settings);
    this.#triggers = new TriggerQueue(this.settings);
  }

  /** Calls an operation. Throws the ApiError of what went wrong, after retries. */
  async call<K extends Called>(
    operation: K,
    { params, query, body }: CallArguments = {},
  ): Promise<Reply<Operations[K]>> {
    const exchanged = await exchange(this.settings, {
      method: routes[operation].method,
      path: pathOf(operation, params, query),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!exchanged.ok) throw errorOf(exchanged.failure);
    const { status, text } = exchanged.reply;
    try {
      return JSON.parse(text) as Reply<Operations[K]>;
    } catch {
      throw errorOf({ status, text });
    }
  }

  /** Triggers a task; calls of one tick share a request. */
  async trigger(
    task: string,
    members: string,
  ): Promise<TriggerReply & { publicAccessToken: string | undefined }> {
    const triggered = await this.#triggers.add(task, members);
    if (!triggered.ok) throw errorOf(triggered.failure);
    const { id, isCached } = triggered.reply;
    return { id, isCached, publicAccessToken: triggered.publicAccessToken };
  }
}
