import type { Operations, Reply } from '@millrace/contract';
import { runToken } from '../auth/run-token.ts';
import { errorOf } from './api-error.ts';
import { exchange } from './exchange.ts';
import { pathOf, routes, type Called, type QueryValue } from './routes.ts';
import { resolveSettings, type ClientSettings, type ResolvedSettings } from './settings.ts';
import { TriggerQueue, type TriggerReply } from './trigger-queue.ts';

interface CallArguments {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: unknown;
  /** A body that is a text and goes as it is, instead of `body`. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
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
  async call<K extends Called>(operation: K, given: CallArguments = {}): Promise<Reply<Operations[K]>> {
    return (await this.callWithHeaders(operation, given)).reply;
  }

  /** Calls an operation whose reply says something in its headers. */
  async callWithHeaders<K extends Called>(
    operation: K,
    { params, query, body, text: given, headers }: CallArguments = {},
  ): Promise<{
    readonly reply: Reply<Operations[K]>;
    readonly header: (name: string) => string | undefined;
  }> {
    const exchanged = await exchange(this.settings, {
      method: routes[operation].method,
      path: pathOf(operation, params, query),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(given === undefined ? {} : { body: given }),
      headers,
    });
    if (!exchanged.ok) throw errorOf(exchanged.failure);
    const { status, text, header } = exchanged.reply;
    // A HEAD has its answer in the headers.
    if (routes[operation].method === 'HEAD') return { reply: null as Reply<Operations[K]>, header };
    try {
      return { reply: JSON.parse(text) as Reply<Operations[K]>, header };
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
    const { publicAccessToken: token, claims } = triggered;
    const { id, isCached } = triggered.reply;
    if (token !== undefined || claims === undefined) return { id, isCached, publicAccessToken: token };
    const { accessToken } = this.settings;
    return {
      id,
      isCached,
      // Signed when somebody wants it: of many runs that are triggered together, few are shown in a browser.
      get publicAccessToken() {
        return runToken(accessToken, claims, id);
      },
    };
  }
}
