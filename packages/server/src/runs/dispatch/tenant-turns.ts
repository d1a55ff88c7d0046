/** Maximum duration of a slice, and of all slices in one event loop iteration, in milliseconds. A longer slice ends the iteration. */
const iterationMs = 5;

interface Waiting {
  /** Runs the slice. */
  start(): void;
}

/**
 * Shares the event loop among tenants. Each calls `run` for a slice of synchronous work. Requests are served between iterations. Waiting
 * tenants take turns, and after a long slice a tenant rests for as long as the slice took.
 */
export class TenantTurns {
  /** In turn order. */
  readonly #waiting = new Map<number, Waiting[]>();
  readonly #restingUntil = new Map<number, number>();
  #usedMs = 0;
  #isScheduled = false;
  #timer: NodeJS.Timeout | undefined;

  /** Runs the slice immediately if it is this tenant's turn, otherwise later. */
  run<R>(tenant: number, slice: () => R): R | Promise<R> {
    if (this.#waiting.size === 0 && this.#usedMs < iterationMs && !this.#isResting(tenant))
      return this.#measured(tenant, slice);
    return new Promise<R>((resolve, reject) => {
      const start = (): void => {
        try {
          resolve(this.#measured(tenant, slice));
        } catch (error) {
          reject(error);
        }
      };
      const others = this.#waiting.get(tenant);
      if (others) others.push({ start });
      else this.#waiting.set(tenant, [{ start }]);
      this.#schedule();
    });
  }

  #measured<R>(tenant: number, slice: () => R): R {
    const began = performance.now();
    try {
      return slice();
    } finally {
      const took = performance.now() - began;
      this.#usedMs += took;
      if (took > iterationMs) this.#restingUntil.set(tenant, performance.now() + took);
      this.#schedule();
    }
  }

  #isResting(tenant: number): boolean {
    const until = this.#restingUntil.get(tenant);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    this.#restingUntil.delete(tenant);
    return false;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#iterate());
  }

  #iterate(): void {
    this.#isScheduled = false;
    this.#usedMs = 0;
    while (this.#usedMs < iterationMs) {
      const tenant = [...this.#waiting.keys()].find((candidate) => !this.#isResting(candidate));
      if (tenant === undefined) break;
      const [next, ...rest] = this.#waiting.get(tenant) ?? [];
      // Moves to the end of the line.
      this.#waiting.delete(tenant);
      if (rest.length > 0) this.#waiting.set(tenant, rest);
      next?.start();
    }
    if (this.#waiting.size > 0 && !this.#isScheduled) this.#wakeLater();
  }

  /** Called when all waiting tenants are resting. */
  #wakeLater(): void {
    const soonest = Math.min(
      ...[...this.#waiting.keys()].map((candidate) => this.#restingUntil.get(candidate) ?? 0),
    );
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#schedule(), Math.max(0, soonest - performance.now()));
  }
}
