import type { Job, Ticked } from './job.ts';

export interface JobState {
  readonly name: string;
  readonly everyMs: number;
  /** Time since its last tick ended, or since it was started. */
  readonly silentMs: number;
  /** Number of consecutive failed ticks, and the time since the first of them. */
  readonly failures: number;
  readonly failingMs: number;
}

interface Watched {
  readonly everyMs: number;
  endedAt: number;
  failures: number;
  failingSince: number;
}

/** The results of the ticks of this process's background jobs. */
export class JobWatch {
  readonly #jobs = new Map<string, Watched>();

  /** Sets the running jobs. The list is empty while the installation is paused. */
  started(jobs: readonly Pick<Job, 'name' | 'everyMs'>[]): void {
    this.#jobs.clear();
    const now = performance.now();
    for (const { name, everyMs } of jobs)
      this.#jobs.set(name, { everyMs, endedAt: now, failures: 0, failingSince: now });
  }

  observe({ job, failed }: Ticked): void {
    const entry = this.#jobs.get(job);
    if (!entry) return;
    entry.endedAt = performance.now();
    if (failed && entry.failures === 0) entry.failingSince = entry.endedAt;
    entry.failures = failed ? entry.failures + 1 : 0;
  }

  states(): JobState[] {
    const now = performance.now();
    return [...this.#jobs].map(([name, { everyMs, endedAt, failures, failingSince }]) => ({
      name,
      everyMs,
      silentMs: now - endedAt,
      failures,
      failingMs: failures === 0 ? 0 : now - failingSince,
    }));
  }
}
