/** What was started, to be stopped in the opposite order, each thing also when another fails to stop. */
export class Closing {
  readonly #steps: (() => Promise<unknown>)[] = [];

  add(step: () => Promise<unknown>): void {
    this.#steps.push(step);
  }

  /** Stops everything; throws the first failure after all have been tried. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      await step().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Works, then stops what the work has started. Why the work failed matters more than what failed to stop. */
export async function withClosing(work: (closing: Closing) => Promise<void>): Promise<void> {
  const closing = new Closing();
  try {
    await work(closing);
  } catch (error) {
    await closing.run().catch(() => {});
    throw error;
  }
  await closing.run();
}
