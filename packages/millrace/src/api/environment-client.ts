import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Operations, Reply } from '@millrace/contract';
import { failureIn } from '@millrace/contract/plain';
import { addressOf, type Parameters } from './address.ts';
import { ServerRefused, ServerUnreachable } from './errors.ts';

interface CallParts extends Parameters {
  readonly body?: unknown;
  /** A request repeated with the same key, even by another process, takes effect once. Default: a random key. */
  readonly requestKey?: string;
}

const attempts = 6;
const maxWaitMs = 60_000;

/** The management API of one environment, with its secret key. Requests are retried while the server is busy or unresponsive. */
export class EnvironmentClient {
  readonly url: string;
  readonly #key: string;
  readonly #branch: string | undefined;

  constructor({ url, key, branch }: { url: string; key: string; branch?: string | undefined }) {
    this.url = url;
    this.#key = key;
    this.#branch = branch;
  }

  async call<K extends keyof Operations>(
    name: K,
    { body, requestKey = randomUUID(), ...parameters }: CallParts = {},
  ): Promise<Reply<Operations[K]>> {
    const { method, address } = addressOf(this.url, name, parameters);
    const init: RequestInit = {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        'x-trigger-api-version': '2025-07-16',
        'x-trigger-request-idempotency-key': requestKey,
        ...(this.#branch !== undefined && { 'x-service-branch': this.#branch }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'error',
    };
    const text = await this.#send(address, init);
    return JSON.parse(text) as Reply<Operations[K]>;
  }

  /** Downloads content from a signed URL, which itself grants permission. */
  async content(url: string): Promise<{ text: string; type: string }> {
    let type = 'application/json';
    const text = await this.#send(url, {}, (headers) => {
      type = headers.get('content-type')?.split(';', 1)[0]?.trim() ?? type;
    });
    return { text, type };
  }

  /** Uploads content to a signed URL. */
  async sendContent(url: string, { text, type }: { text: string; type: string }): Promise<void> {
    await this.#send(url, { method: 'PUT', headers: { 'content-type': type }, body: text });
  }

  async #send(
    url: string,
    init: RequestInit,
    onHeaders: (headers: Headers) => void = () => {},
  ): Promise<string> {
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt === attempts;
      let waitMs = 250 * 2 ** attempt;
      try {
        const response = await fetch(url, { ...init, signal: AbortSignal.timeout(60_000) });
        const text = await response.text();
        if (response.ok) {
          onHeaders(response.headers);
          return text;
        }
        const { status, headers } = response;
        if (isLast || (status !== 429 && status < 500))
          throw new ServerRefused(
            status,
            errorIn(text, response),
            failureIn((name) => headers.get(name)),
          );
        if (status === 429) waitMs = Math.max(waitMs, Number(headers.get('x-ratelimit-reset')) - Date.now());
      } catch (error) {
        if (error instanceof ServerRefused) throw error;
        const { cause = error } = error as Error;
        if (isLast)
          throw new ServerUnreachable(`Cannot reach ${new URL(url).origin}: ${(cause as Error).message}`);
      }
      await pause(Math.min(maxWaitMs, waitMs));
    }
  }
}

function errorIn(text: string, { status, statusText }: Response): string {
  try {
    const { error, variableErrors } = JSON.parse(text) as { error?: unknown; variableErrors?: unknown };
    const named = Array.isArray(variableErrors)
      ? (variableErrors as { key: string; error: string }[]).map((entry) => ` ${entry.key}: ${entry.error}`)
      : [];
    if (typeof error === 'string') return `${error}${named.join(';')}`;
  } catch {
    // The response is not from Millrace.
  }
  return `${status} ${statusText}`;
}
