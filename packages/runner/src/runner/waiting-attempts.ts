import type { ServedTask } from './served-build.ts';
import { machineOf } from './attempt.ts';
import type { Attempt } from './executor.ts';
import type { Purpose } from './executor.ts';

/** The resource that an attempt waits for: its version, a kind of process, or a slot in the process where it is suspended. */
type Line = 'loading' | Purpose | 'resuming';

/** The kind of process that an attempt needs. */
export function purposeOf(attempt: Attempt, task: ServedTask | undefined): Purpose {
  if (attempt.suspect) return 'suspect';
  return task && (task.isolated || machineOf(attempt, task) !== null) ? 'isolated' : 'shared';
}

/** Queues of attempts that wait for a process or a slot. */
export class WaitingAttempts {
  readonly #lines: Readonly<Record<Line, Attempt[]>> = {
    loading: [],
    shared: [],
    isolated: [],
    suspect: [],
    resuming: [],
  };

  get size(): number {
    return Object.values(this.#lines).reduce((sum, line) => sum + line.length, 0);
  }

  join(line: Line, attempt: Attempt): void {
    this.#lines[line].push(attempt);
  }

  /** Adds an attempt before those that have not started. */
  joinFirst(line: Line, attempt: Attempt): void {
    this.#lines[line].unshift(attempt);
  }

  /** Removes an attempt from all queues. */
  leave(attempt: Attempt): void {
    for (const line of Object.values(this.#lines)) {
      const at = line.indexOf(attempt);
      if (at !== -1) line.splice(at, 1);
    }
  }

  first(line: Line): Attempt | undefined {
    return this.#lines[line][0];
  }

  /** Removes and returns the first. */
  next(line: Line): Attempt | undefined {
    return this.#lines[line].shift();
  }

  /** Removes and returns the first ones, up to a number. */
  take(line: Line, limit: number): Attempt[] {
    return this.#lines[line].splice(0, Math.max(0, limit));
  }

  /** Removes and returns those that waited for this version. */
  takeLoading(version: string): Attempt[] {
    const taken = this.#lines.loading.filter(({ assignment }) => assignment.version === version);
    for (const attempt of taken) this.leave(attempt);
    return taken;
  }

  /** Removes and returns those of this version that have no process. */
  takeAll(version: string): Attempt[] {
    const lines = [this.#lines.loading, this.#lines.shared, this.#lines.isolated, this.#lines.suspect];
    const taken = lines.flat().filter(({ assignment }) => assignment.version === version);
    for (const attempt of taken) this.leave(attempt);
    return taken;
  }

  /** Attempts that have waited for this many milliseconds and have not started. */
  unstarted(milliseconds: number): Attempt[] {
    const now = performance.now();
    const isOld = ({ touched, receivedAt }: Attempt, least: number): boolean =>
      !touched && now - receivedAt >= least;
    return [
      ...this.#lines.shared.filter((attempt) => isOld(attempt, milliseconds)),
      // Without another runner, these are assigned here again immediately, so they are returned less often.
      ...this.#lines.isolated.filter((attempt) => isOld(attempt, milliseconds * 10)),
      // A version that is loading is worth waiting for, unless the runner stops.
      ...(milliseconds === 0 ? this.#lines.loading : []),
    ];
  }

  /** Whether an attempt that could be returned has waited for this many milliseconds. */
  hasWaited(milliseconds: number): boolean {
    const first = this.#lines.shared.find(({ touched }) => !touched);
    return first !== undefined && performance.now() - first.receivedAt >= milliseconds;
  }
}
