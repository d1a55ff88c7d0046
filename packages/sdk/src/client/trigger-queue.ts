/**
 * Trigger calls made in the same tick share one request. A single call is sent separately and immediately, through the ordinary route.
 * Concurrent calls are sent together to `triggerMany`, where each succeeds or fails on its own.
 */
import type { Operations, Reply, triggerManyLimit } from '@millrace/contract';
import { helpOfStatus } from '@millrace/contract/help';
import type { Failure } from './api-error.ts';
import { exchange } from './exchange.ts';
import { pathOf } from './path.ts';
import type { ResolvedSettings } from './settings.ts';

export type TriggerReply = Reply<Operations['triggerTask']>;

export type Triggered =
  | {
      readonly ok: true;
      readonly reply: TriggerReply;
      readonly publicAccessToken?: string | undefined;
      readonly claims?: string | undefined;
    }
  | { readonly ok: false; readonly failure: Failure };

interface Call {
  readonly task: string;
  /** The path of the ordinary route. */
  readonly path: string;
  readonly members: string;
  readonly accessToken: string;
  readonly resolve: (outcome: Triggered) => void;
}

const callsPerRequest: typeof triggerManyLimit = 500;
/** Up to this many calls always share one request. */
const fewCalls = 8;
/** A character takes at most 3 bytes in UTF-8, so a shared request stays below the server's 3 MiB without counting bytes. */
const charactersPerRequest = 1_000_000;

/** Runs after the other work of the tick; without setImmediate, as soon as the platform allows. */
const afterTick: (act: () => void) => void =
  typeof setImmediate === 'function' ? setImmediate : (act) => setTimeout(act, 0);

/** Statuses of a shared request that a single call in it may have caused. */
const mayConcernOne = (status: number | undefined) =>
  status !== undefined && status >= 400 && status < 500 && status !== 401 && status !== 408 && status !== 429;

function replyIn<T>(text: string, status: number): { ok: true; value: T } | { ok: false; failure: Failure } {
  try {
    return { ok: true, value: JSON.parse(text) as T };
  } catch {
    return { ok: false, failure: { status, text } };
  }
}

/** Collects the trigger calls of one client. */
export class TriggerQueue {
  readonly #settings: ResolvedSettings;
  #waiting: Call[] = [];
  /** Shared requests that have no response yet. */
  #underWay = 0;

  constructor(settings: ResolvedSettings) {
    this.#settings = settings;
  }

  /**
   * Throws synchronously for a task id that is invalid in a path; otherwise never rejects.
   * @param members the members of the call's JSON object, without its braces
   */
  add(task: string, members: string, accessToken: string): Promise<Triggered> {
    const path = pathOf('triggerTask', { taskId: task });
    return new Promise((resolve) => {
      this.#waiting.push({ task, path, members, accessToken, resolve });
      if (this.#waiting.length === 1) afterTick(() => this.#flush());
    });
  }

  #flush(): void {
    const calls = this.#waiting;
    this.#waiting = [];
    // Two requests may be in flight, so that the server works on the second while the database writes the first.
    const share = this.#underWay > 0 ? calls.length : Math.ceil(calls.length / 2);
    const max = Math.min(callsPerRequest, Math.max(fewCalls, share));
    let from = 0;
    while (from < calls.length) {
      let to = from;
      let characters = 0;
      do characters += calls[to++]!.members.length;
      while (
        to < calls.length &&
        to - from < max &&
        characters + calls[to]!.members.length <= charactersPerRequest
      );
      if (to - from === 1) void this.#sendAlone(calls[from]!);
      else void this.#sendTogether(calls.slice(from, to));
      from = to;
    }
  }

  async #sendAlone(call: Call, firstFailure?: Failure): Promise<void> {
    const { path, members, accessToken } = call;
    const request = { method: 'POST', path, body: `{${members}}`, accessToken, repeatable: true };
    const exchanged = await exchange(this.#settings, request, firstFailure);
    if (!exchanged.ok) return call.resolve(exchanged);
    const parsed = replyIn<TriggerReply>(exchanged.reply.text, exchanged.reply.status);
    if (!parsed.ok) return call.resolve(parsed);
    call.resolve({
      ok: true,
      reply: parsed.value,
      publicAccessToken: exchanged.reply.header('x-trigger-jwt'),
    });
  }

  async #sendTogether(calls: readonly Call[]): Promise<void> {
    const items = calls.map(
      ({ task, members }) => `{"task":${JSON.stringify(task)}${members && ','}${members}}`,
    );
    // All calls have the same caller; for a run, the latest call has the freshest token.
    const accessToken = calls.at(-1)!.accessToken;
    const request = {
      method: 'POST',
      path: pathOf('triggerMany'),
      body: `{"items":[${items.join(',')}]}`,
      accessToken,
      repeatable: true,
    };
    this.#underWay += 1;
    const exchanged = await exchange(this.#settings, request);
    this.#underWay -= 1;
    if (!exchanged.ok) {
      // An invalid call must not make the others fail, so each is retried separately and gets its own response.
      if (mayConcernOne(exchanged.failure.status)) for (const call of calls) void this.#sendAlone(call);
      else for (const call of calls) call.resolve(exchanged);
      return;
    }
    const { text, status } = exchanged.reply;
    const claims = exchanged.reply.header('x-trigger-jwt-claims');
    const parsed = replyIn<Reply<Operations['triggerMany']>>(text, status);
    const results = parsed.ok ? parsed.value.results : undefined;
    for (const [index, call] of calls.entries()) {
      const result = results?.[index];
      if (!result) call.resolve({ ok: false, failure: { status, text } });
      else if ('id' in result) {
        const { publicAccessToken, ...reply } = result;
        call.resolve({ ok: true, reply, publicAccessToken, claims });
      }
      // Continues separately after its first failure, with the usual retries.
      else
        void this.#sendAlone(call, {
          status: result.status,
          code: result.code,
          text: JSON.stringify({ error: result.error }),
          help: helpOfStatus(result.status),
        });
    }
  }
}
