import { type Resolvers, withResolvers } from '../with-resolvers.ts';

/** The credential of an attempt: requested from the runner on first use, and again before it expires. */
export class AttemptCredential {
  readonly #ask: () => void;
  #text = '';
  /** The monotonic time in milliseconds until which calls may start with it. */
  #until = -Infinity;
  #request: Resolvers<string> | undefined;

  constructor(ask: () => void) {
    this.#ask = ask;
  }

  /** Synchronous if the credential is cached. */
  get(): string | Promise<string> {
    if (performance.now() < this.#until) return this.#text;
    if (!this.#request) {
      this.#request = withResolvers<string>();
      this.#ask();
    }
    return this.#request.promise;
  }

  /** The runner's reply; null if the runner no longer owns the attempt. */
  answer(text: string | null, goodForMs: number): void {
    const request = this.#request;
    this.#request = undefined;
    if (text === null)
      return request?.reject(
        new Error('The attempt has ended: code that it left behind cannot call the API.'),
      );
    this.#text = text;
    this.#until = performance.now() + goodForMs;
    request?.resolve(text);
  }
}
