/** The result of a wait. */
export type WaitResult<TOutput> =
  | { readonly ok: true; readonly output: TOutput }
  | { readonly ok: false; readonly error: Error };

type OutputOf<TResult extends WaitResult<unknown>> = Extract<TResult, { readonly ok: true }>['output'];

/** Await it for the result, successful or not; call `unwrap()` for just the output. */
export class ResultPromise<TResult extends WaitResult<unknown>> extends Promise<TResult> {
  /** `then` and similar methods return a plain promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  static of<TResult extends WaitResult<unknown>>(result: Promise<TResult>): ResultPromise<TResult> {
    return new ResultPromise((resolve, reject) => void result.then(resolve, reject));
  }

  /** The output. Throws the error of a result that is not ok. */
  async unwrap(): Promise<OutputOf<TResult>> {
    const result = await this;
    if (result.ok) return result.output;
    throw result.error;
  }
}
