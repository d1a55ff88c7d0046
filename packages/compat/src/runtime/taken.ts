/** The result of waiting for a message. */
export type Taken<T> =
  | { readonly ok: true; readonly output: T }
  | { readonly ok: false; readonly error: Error };

/** Like `InputStreamTimeoutError` of the published SDK. */
export const timedOut = (ms: number): Error =>
  Object.assign(new Error(`No message came within ${ms} ms.`), { name: 'InputStreamTimeoutError' });

/** Like `InputStreamOncePromise` of the published SDK. */
export class Result<T> extends Promise<Taken<T>> {
  static of<T>(taken: Taken<T>): Result<T> {
    return new Result((resolve) => resolve(taken));
  }

  static failed<T>(error: Error): Result<T> {
    return new Result((_, reject) => reject(error));
  }

  /** `then` returns a plain promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  map<U>(change: (value: T) => U): Result<U> {
    return new Result((resolve, reject) => {
      this.then((taken) => resolve(taken.ok ? { ok: true, output: change(taken.output) } : taken), reject);
    });
  }

  async unwrap(): Promise<T> {
    const taken = await this;
    if (taken.ok) return taken.output;
    throw taken.error;
  }
}
