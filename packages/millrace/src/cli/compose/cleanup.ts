/** Stops resources in reverse order of their start and continues if one of them fails to stop. */
export class Cleanup {
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

/** Runs `work`, then stops the resources that it started. An error of `work` takes precedence over errors of stopping. */
export async function withCleanup(work: (cleanup: Cleanup) => Promise<void>): Promise<void> {
  const cleanup = new Cleanup();
  try {
    await work(cleanup);
  } catch (error) {
    await cleanup.run().catch(() => {});
    throw error;
  }
  await cleanup.run();
}
