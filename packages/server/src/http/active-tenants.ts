const windowMs = 1_000;

/** Counts the tenants that sent a request within the last second; the count may include those of up to two seconds ago. */
export class ActiveTenants {
  #tenants = new Set<string | number>();
  #countBefore = 0;
  #since = Number.NEGATIVE_INFINITY;

  add(tenant: string | number, at: number): void {
    if (at - this.#since >= windowMs) {
      this.#countBefore = this.count(at);
      this.#tenants = new Set();
      this.#since = at;
    }
    this.#tenants.add(tenant);
  }

  count(at: number): number {
    const elapsed = at - this.#since;
    if (elapsed >= 2 * windowMs) return 0;
    return elapsed >= windowMs ? this.#tenants.size : Math.max(this.#countBefore, this.#tenants.size);
  }
}
