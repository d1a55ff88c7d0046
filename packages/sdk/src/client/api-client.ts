import type { Operations, Reply } from '@millrace/contract';
import { routes } from '@millrace/contract/plain';
import { runToken } from '../auth/run-token.ts';
import { withinAttempt, type RunScope } from '../run-scope.ts';
import { errorOf } from './api-error.ts';
import { exchange } from './exchange.ts';
import { pathOf, type QueryValue } from './path.ts';
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
  /** A body that is a text and goes as it is, instead of `body`. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface HeadedReply<K extends keyof Operations> {
  readonly reply: Reply<Operations[K]>;
  readonly header: (name: string) => string | undefined;
}

/**
 * One configuration: an address, a credential, a branch. Two clients never share a request.
 * Everything public works through one of these; which one is `currentClient()`'s to say.
 */
export class ApiClient {
  /** What the settings are made of. */
  readonly given: ClientSettings;
  #settings: ResolvedSettings | undefined;
  #triggers: TriggerQueue | undefined;
  /** Of runs whose credentials it uses: calls of two runs never share a request. */
  readonly #triggersOfRuns = new WeakMap<RunScope, TriggerQueue>();

  constructor(settings: ClientSettings = {}) {
    this.given = { ...settings };
  }

  /** Resolved by the first call: a program may be built, and its modules loaded, where there is no address or key. */
  get settings(): ResolvedSettings {
    return (this.#settings ??= resolveSettings(this.given));
  }

  /** Calls an operation. Throws the ApiError of what went wrong, after retries. */
  async call<K extends keyof Operations>(
    operation: K,
    given: CallArguments = {},
  ): Promise<Reply<Operations[K]>> {
    return (await this.callWithHeaders(operation, given)).reply;
  }

  /** Calls an operation whose reply says something in its headers. */
  async callWithHeaders<K extends keyof Operations>(
    operation: K,
    given: CallArguments = {},
  ): Promise<HeadedReply<K>> {
    // The credential of a run ends with its attempt, which therefore does not end before the call.
    return runOf(this.settings)
      ? withinAttempt(() => this.#exchange(operation, given))
      : this.#exchange(operation, given);
  }

  async #exchange<K extends keyof Operations>(
    operation: K,
    { params, query, body, text: given, headers }: CallArguments,
  ): Promise<HeadedReply<K>> {
    const [method] = routes[operation];
    const exchanged = await exchange(this.settings, {
      method,
      path: pathOf(operation, params, query),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(given === undefined ? {} : { body: given }),
      headers,
    });
    if (!exchanged.ok) throw errorOf(exchanged.failure);
    const { status, text, header } = exchanged.reply;
    // A HEAD has its answer in the headers.
    if (method === 'HEAD') return { reply: null as Reply<Operations[K]>, header };
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
    // What cannot be had fails here, for this call; the queue finds it at hand.
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
      // Signed when somebody wants it: of many runs that are triggered together, few are shown in a browser.
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
