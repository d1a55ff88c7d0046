/** The attempts of one environment with respect to slots. */
export interface SlotUser {
  /** Number of attempts that have a slot. */
  readonly busy: number;
  /** Number of attempts that have a slot or wait here for one. */
  readonly active: number;
}

/**
 * The slots of a runner, shared by the environments that it serves. Each may use the slots that the others leave free. When all are in use,
 * an environment without a slot gets an extra one, and an environment with more than an equal share gets no new ones while another is
 * short.
 */
export class Slots {
  readonly #count: number;
  readonly #limits = new Map<SlotUser, number>();

  constructor(count: number) {
    this.#count = count;
  }

  add(user: SlotUser): void {
    this.#limits.set(user, this.#count);
  }

  remove(user: SlotUser): void {
    this.#limits.delete(user);
  }

  /** Maximum number of concurrent attempts of this environment. */
  limit(user: SlotUser): number {
    let others = 0;
    let taken = 0;
    let isShort = false;
    for (const [other, limit] of this.#limits) {
      const { busy, active } = other;
      if (other === user || active === 0) continue;
      others += 1;
      taken += busy;
      isShort ||= active >= limit;
    }
    const share = Math.max(1, Math.floor(this.#count / (others + 1)));
    const max = Math.max(1, user.busy, this.#count - taken);
    const limit = isShort && user.busy > share ? share : max;
    if (this.#limits.has(user)) this.#limits.set(user, limit);
    return limit;
  }
}
