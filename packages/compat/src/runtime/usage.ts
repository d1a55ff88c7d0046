interface Measurement {
  readonly startedAt: number;
  pausedMs: number;
  endedAt: number | undefined;
}

export interface Sample {
  /** Milliseconds, excluding waits. */
  readonly cpuTime: number;
  readonly wallTime: number;
}

/** Elapsed time of an attempt's code, excluding waits. The CPU time of a single run in a shared process is unknown. */
export class Usage {
  readonly #whole: Measurement;
  readonly #open: Set<Measurement>;

  constructor(startedAt: number) {
    this.#whole = { startedAt, pausedMs: 0, endedAt: undefined };
    this.#open = new Set([this.#whole]);
  }

  start(): Measurement {
    const measurement = { startedAt: performance.now(), pausedMs: 0, endedAt: undefined };
    this.#open.add(measurement);
    return measurement;
  }

  stop(measurement: Measurement): Sample {
    measurement.endedAt ??= performance.now();
    this.#open.delete(measurement);
    return sampleOf(measurement);
  }

  async pause<T>(act: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    try {
      return await act();
    } finally {
      const took = performance.now() - begun;
      for (const measurement of this.#open) measurement.pausedMs += took;
    }
  }

  sample(): Sample {
    return sampleOf(this.#whole);
  }
}

function sampleOf({ startedAt, pausedMs, endedAt = performance.now() }: Measurement): Sample {
  const wallTime = endedAt - startedAt;
  return { wallTime, cpuTime: Math.max(0, wallTime - pausedMs) };
}
