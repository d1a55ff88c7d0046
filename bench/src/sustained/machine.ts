/** The processor time of a fixed piece of work. It grows when other load shares the cores and caches of the machine. */
const numbers = new Float64Array(2 ** 21).map((_, index) => index);
/** Visits the 16 MiB out of order, as the measured programs do with their memory. */
const stride = 4_099;

export class MachineSpeed {
  readonly #took: number[] = [];

  /** Does the work once: about 2 ms. */
  sample(): void {
    const before = process.threadCpuUsage();
    let at = 0;
    let total = 0;
    for (let step = 0; step < 2 ** 18; step++) {
      at = (at + stride) % numbers.length;
      total += numbers[at] ?? 0;
    }
    const { user, system } = process.threadCpuUsage(before);
    if (total > 0) this.#took.push((user + system) / 1_000);
  }

  /** The median since the last call, in milliseconds. */
  take(): number {
    const sorted = this.#took.splice(0).toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  }
}
