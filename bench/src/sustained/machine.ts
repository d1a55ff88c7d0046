/**
 * How fast the machine is at the moment: the processor time that one fixed piece of work takes, measured twice a second. Other tenants of
 * the same hardware slow it by a third for minutes, which no other figure of this machine shows. Waiting for a core does not count.
 */
const everyMs = 500;
const repeats = 8;

/** Reading and writing JSON, as most parts of the system do most of the time: about 3 ms. */
const text = JSON.stringify(
  Array.from({ length: 500 }, (_, n) => ({
    id: `run_${n}`,
    tags: ['a', 'b'],
    payload: { n, at: n * 1_000 },
  })),
);

function piece(): number {
  const from = process.threadCpuUsage();
  for (let n = 0; n < repeats; n++) JSON.stringify(JSON.parse(text));
  const { user, system } = process.threadCpuUsage(from);
  return user + system;
}

export class Machine {
  #costs: number[] = [];
  readonly #timer = setInterval(() => this.#costs.push(piece()), everyMs);

  /** Mean processor time of a piece since the last call, in microseconds. */
  cost(): number {
    const costs = this.#costs;
    this.#costs = [];
    return costs.reduce((total, us) => total + us, 0) / costs.length;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
