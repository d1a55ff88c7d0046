/** The attempts of one environment, as far as slots are concerned. */
export interface SlotUser {
  /** Those that have a slot. */
  readonly busy: number;
  /** The same, with those that wait here for one. */
  readonly active: number;
}

/**
 * The attempts that a runner executes at once. The environments that it serves share them: one takes what the others leave. When they are
 * all taken, one that has none yet gets one more, and one that has more than an equal share takes no new ones while another is short.
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

  /** How many attempts this environment may execute at once. */
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
    const most = Math.max(1, user.busy, this.#count - taken);
    const limit = isShort && user.busy > share ? share : most;
    if (this.#limits.has(user)) this.#limits.set(user, limit);
    return limit;
  }
}
