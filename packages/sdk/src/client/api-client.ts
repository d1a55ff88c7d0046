import type { Operations, Reply } from '@millrace/contract';
import { routes } from '@millrace/contract/plain';
import { runToken } from '../auth/run-token.ts';
import { withinAttempt, type RunScope } from '../run-scope.ts';
import { errorOf } from './api-error.ts';
import { exchange } from './exchange.ts';
import { pathOf, type QueryValue } from './path.ts';
import { isRepeatable } from './repeatable.ts';
import {
  accessTokenOf,
  resolveSettings,
  runOf,
  type ClientSettings,
  type ResolvedSettings,
} from './settings.ts';
import { TriggerQueue, type TriggerReply } from './trigger-queue.ts';

interface CallArguments {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: unknown;
  /** A text body that is sent verbatim, instead of `body`. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Stops retrying during an outage. Default: the run's signal. */
  readonly signal?: AbortSignal | undefined;
}

interface HeadedReply<K extends keyof Operations> {
  readonly reply: Reply<Operations[K]>;
  readonly header: (name: string) => string | undefined;
}

/**
 * One configuration: an address, a credential and a branch. Two clients never share a request. All public functions work through a client;
 * `currentClient()` selects it.
 */
export class ApiClient {
  /** The settings as passed in, before defaults. */
  readonly options: ClientSettings;
  #settings: ResolvedSettings | undefined;
  #triggers: TriggerQueue | undefined;
  /** Queues by run, for clients that use run credentials: calls from two runs never share a request. */
  readonly #triggersOfRuns = new WeakMap<RunScope, TriggerQueue>();

  constructor(settings: ClientSettings = {}) {
    this.options = { ...settings };
  }

  /** Resolved by the first call, so that a program can be built, and its modules loaded, without an address or key. */
  get settings(): ResolvedSettings {
    return (this.#settings ??= resolveSettings(this.options));
  }

  /** Calls an operation. If it still fails after retries, throws the matching ApiError. */
  async call<K extends keyof Operations>(
    operation: K,
    args: CallArguments = {},
  ): Promise<Reply<Operations[K]>> {
    return (await this.callWithHeaders(operation, args)).reply;
  }

  /** Calls an operation whose response also contains data in its headers. */
  async callWithHeaders<K extends keyof Operations>(
    operation: K,
    args: CallArguments = {},
  ): Promise<HeadedReply<K>> {
    // A run's credential ends with its attempt, so the attempt must not end before the call.
    return runOf(this.settings)
      ? withinAttempt(() => this.#exchange(operation, args))
      : this.#exchange(operation, args);
  }

  async #exchange<K extends keyof Operations>(
    operation: K,
    { params, query, body, text: rawBody, headers, signal }: CallArguments,
  ): Promise<HeadedReply<K>> {
    const [method] = routes[operation];
    const exchanged = await exchange(this.settings, {
      method,
      path: pathOf(operation, params, query),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(rawBody === undefined ? {} : { body: rawBody }),
      headers,
      repeatable: isRepeatable(operation),
      signal,
    });
    if (!exchanged.ok) throw errorOf(exchanged.failure);
    const { status, text, header } = exchanged.reply;
    // A HEAD response has only headers.
    if (method === 'HEAD') return { reply: null as Reply<Operations[K]>, header };
    try {
      return { reply: JSON.parse(text) as Reply<Operations[K]>, header };
    } catch {
      throw errorOf({ status, text });
    }
  }

  /** Triggers a task. Calls in the same tick share a request. */
  async trigger(
    task: string,
    members: string,
  ): Promise<TriggerReply & { publicAccessToken: string | undefined }> {
    // A missing credential fails here, for this call only, so the queue always has one.
    const accessToken = await accessTokenOf(this.settings);
    const triggered = await this.#queue().add(task, members, accessToken);
    if (!triggered.ok) throw errorOf(triggered.failure);
    const { publicAccessToken: token, claims } = triggered;
    const { id, isCached, isDropped } = triggered.reply;
    if (token !== undefined || claims === undefined || isDropped)
      return { id, isCached, ...(isDropped && { isDropped }), publicAccessToken: token };
    return {
      id,
      isCached,
      // Signed lazily, because few of many runs triggered together are shown in a browser.
      get publicAccessToken() {
        return runToken(accessToken, claims, id);
      },
    };
  }

  #queue(): TriggerQueue {
    const run = runOf(this.settings);
    if (!run) return (this.#triggers ??= new TriggerQueue(this.settings));
    let queue = this.#triggersOfRuns.get(run);
    if (!queue) {
      queue = new TriggerQueue(this.settings);
      this.#triggersOfRuns.set(run, queue);
    }
    return queue;
  }
}
