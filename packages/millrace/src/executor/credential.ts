/** The credential of one attempt, as its code needs it: asked of the runner the first time, and again some time before it ends. */
export class AttemptCredential {
  readonly #ask: () => void;
  #text = '';
  /** Milliseconds, monotonic: until then calls may begin with it. */
  #until = -Infinity;
  #asked: PromiseWithResolvers<string> | undefined;

  constructor(ask: () => void) {
    this.#ask = ask;
  }

  /** At once when it is known. */
  get(): string | Promise<string> {
    if (performance.now() < this.#until) return this.#text;
    if (!this.#asked) {
      this.#asked = withResolvers<string>();
      this.#ask();
    }
    return this.#asked.promise;
  }

  /** The runner's answer; null when the attempt is not its own any more. */
  answer(text: string | null, goodForMs: number): void {
    const asked = this.#asked;
    this.#asked = undefined;
    if (text === null)
      return asked?.reject(new Error('The attempt is over: what its code left behind cannot call the API.'));
    this.#text = text;
    this.#until = performance.now() + goodForMs;
    asked?.resolve(text);
  }
}

/** Node 20 has no Promise.withResolvers. */
interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: Error) => void;
}

function withResolvers<T>(): PromiseWithResolvers<T> {
  let functions!: Pick<PromiseWithResolvers<T>, 'resolve' | 'reject'>;
  const promise = new Promise<T>((resolve, reject) => {
    functions = { resolve, reject };
  });
  return { promise, ...functions };
}
