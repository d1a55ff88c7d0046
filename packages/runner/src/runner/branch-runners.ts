import type { Runner } from './options.ts';

export interface BranchRunnersOptions {
  /** Starts the runner of a branch. Rejects if the server refuses it, or when the signal is aborted. */
  readonly start: (branch: string, signal: AbortSignal) => Promise<Runner>;
  readonly onServed?: ((branch: string, runner: string) => void) | undefined;
  /** Includes the reason, unless the branch no longer exists. */
  readonly onLeft?: ((branch: string, why?: string) => void) | undefined;
  /** How long, in milliseconds, runs may take to finish when their branch is no longer served. */
  readonly stopMs: number;
}

/** Milliseconds before retrying a branch that could not be served or whose runner ended. */
const retryMs = 1_000;

/** Maintains a runner for each branch of a list. They are started one after another, because there may be hundreds. */
export class BranchRunners {
  readonly #options: BranchRunnersOptions;
  readonly #runners = new Map<string, Runner>();
  readonly #stopped = new AbortController();
  #branches: readonly string[] = [];
  #isStarting = false;
  #retryTimer: NodeJS.Timeout | undefined;

  constructor(options: BranchRunnersOptions) {
    this.#options = options;
  }

  get runners(): readonly Runner[] {
    return [...this.#runners.values()];
  }

  /** Replaces the set of served branches. */
  set(branches: readonly string[]): void {
    this.#branches = branches;
    for (const [branch, runner] of this.#runners) {
      if (branches.includes(branch)) continue;
      this.#runners.delete(branch);
      this.#options.onLeft?.(branch);
      void runner.stop({ waitMs: this.#options.stopMs });
    }
    void this.#startMissing();
  }

  /** Starts no more runners. Stopping the existing ones is left to the caller. */
  end(): void {
    clearTimeout(this.#retryTimer);
    this.#stopped.abort();
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  async #startMissing(): Promise<void> {
    if (this.#isStarting) return;
    this.#isStarting = true;
    const failed = new Set<string>();
    const next = (): string | undefined =>
      this.#isStopped
        ? undefined
        : this.#branches.find((branch) => !this.#runners.has(branch) && !failed.has(branch));
    for (let branch = next(); branch !== undefined; branch = next()) {
      try {
        this.#serve(branch, await this.#options.start(branch, this.#stopped.signal));
      } catch (error) {
        failed.add(branch);
        if (!this.#isStopped) this.#options.onLeft?.(branch, String((error as Error).message));
      }
    }
    this.#isStarting = false;
    if (failed.size > 0) this.#retryLater();
  }

  #serve(branch: string, runner: Runner): void {
    // The list may have changed, or everything may have been stopped, while it was starting.
    if (this.#isStopped || !this.#branches.includes(branch)) {
      void runner.stop({ waitMs: 0 });
      return;
    }
    this.#runners.set(branch, runner);
    this.#options.onServed?.(branch, runner.id);
    void runner.ended.then((error) => {
      if (this.#runners.get(branch) !== runner) return;
      this.#runners.delete(branch);
      if (this.#isStopped) return;
      this.#options.onLeft?.(branch, error?.message);
      this.#retryLater();
    });
  }

  /** If the branch was archived, the list without it will arrive soon. */
  #retryLater(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => void this.#startMissing(), retryMs);
  }
}
