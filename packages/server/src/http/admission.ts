import { Problem } from '../problem.ts';

/** Bounds of the work of this process, in units: see `admission-cost.ts`. */
export interface AdmissionLimits {
  /** Units in progress. */
  readonly capacity: number;
  /** Units in progress of a tenant that is alone. Below the capacity, so that a new tenant does not have to wait. */
  readonly share: number;
  /** Bounds of the same while several tenants send requests: the capacity divided by their number, but not less or more than this. */
  readonly minContendedShare: number;
  readonly maxContendedShare: number;
  /** Maximum waiting requests; further ones are rejected immediately. */
  readonly maxWaiting: number;
  /** How long a request waits before it is rejected, in milliseconds. */
  readonly maxWaitMs: number;
}

/**
 * Enough for two full group commits: one being written and one being prepared. More would make groups larger and event loop turns longer,
 * and thus slow down every tenant's requests.
 */
export const defaultAdmissionLimits: AdmissionLimits = {
  capacity: 64,
  share: 48,
  minContendedShare: 4,
  maxContendedShare: 16,
  maxWaiting: 10_000,
  maxWaitMs: 2_000,
};

/** A tenant whose requests are admitted together, and how many of them in one turn. */
export interface Share {
  readonly key: string | number;
  readonly weight: number;
}

interface Waiting {
  readonly cost: number;
  readonly since: number;
  /** Whether the client has disconnected. */
  readonly isGone: () => boolean;
  readonly start: () => void;
  readonly reject: (problem: Problem) => void;
}

interface Tenant {
  readonly key: string | number;
  readonly weight: number;
  /** Units in progress. */
  inUse: number;
  /** Requests that may still start in this turn. */
  turn: number;
  /** In order of arrival. */
  readonly waiting: Waiting[];
}

/** The outcomes of requests, for metrics. */
export interface AdmissionObserver {
  /** A request that had to wait started, or was rejected, after this time. */
  waited(ms: number, outcome: 'admitted' | 'shed'): void;
}

export interface AdmissionLoad {
  readonly used: number;
  readonly tenants: number;
  readonly waiting: number;
  readonly immediate: number;
}

const sweepMs = 100;
/** How long waiting requests are started in one turn of the event loop. */
const sliceMs = 4;
/** While connections arrive, no waiting request is started for this long. Then requests are started for the same time. */
const yieldMs = 50;

const overloaded = () =>
  new Problem('overloaded', 'The server has more requests than it can serve in time. Try again.', {}, true);

/**
 * Admits requests to the handlers. While there is capacity, a request is admitted immediately. Otherwise it waits in its tenant's queue.
 * Tenants take turns, by weight, so that a flood from one of them delays only its own requests. A request that has waited too long is
 * rejected, because its client has probably given up and serving it would delay others.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #observer: AdmissionObserver;
  readonly #tenants = new Map<string | number, Tenant>();
  /** Tenants with waiting requests, in turn order. */
  readonly #ring = new Set<Tenant>();
  #used = 0;
  #waiting = 0;
  #immediate = 0;
  #timer: NodeJS.Timeout | undefined;
  #isScheduled = false;
  readonly #active = new ActiveTenants();
  /** A connection was accepted since the last slice. */
  #hasAccepted = false;
  /** When the current or most recent period without starts began. */
  #yieldedAt = Number.NEGATIVE_INFINITY;

  constructor(limits: Partial<AdmissionLimits> = {}, observer: AdmissionObserver = { waited() {} }) {
    this.#limits = { ...defaultAdmissionLimits, ...limits };
    this.#observer = observer;
  }

  /** Units in progress, tenants with requests, waiting requests, and how many requests have passed without waiting. */
  get load(): AdmissionLoad {
    return {
      used: this.#used,
      tenants: this.#tenants.size,
      waiting: this.#waiting,
      immediate: this.#immediate,
    };
  }

  /**
   * Calls `start` now or when it is the request's turn, with a function that ends the request's use of its units; calling it again has no
   * effect. Calls `reject` instead if the request has waited too long.
   */
  enter(
    share: Share,
    requested: number,
    start: (leave: () => void) => void,
    reject: (problem: Problem) => void,
    isGone: () => boolean,
  ): void {
    this.#active.add(share.key, performance.now());
    const cost = Math.min(requested, this.#limits.maxContendedShare);
    const tenant = this.#tenantOf(share);
    const begin = (): void => {
      this.#used += cost;
      tenant.inUse += cost;
      let left = false;
      start(() => {
        if (left) return;
        left = true;
        this.#used -= cost;
        tenant.inUse -= cost;
        this.#forgetIdle(tenant);
        if (this.#waiting > 0) this.#schedule();
      });
    };
    if (tenant.waiting.length === 0 && this.#fits(tenant, cost)) {
      this.#immediate += 1;
      return begin();
    }
    if (this.#waiting >= this.#limits.maxWaiting) {
      this.#forgetIdle(tenant);
      this.#observer.waited(0, 'shed');
      return reject(overloaded());
    }
    tenant.waiting.push({ cost, since: performance.now(), isGone, start: begin, reject });
    this.#waiting += 1;
    this.#ring.add(tenant);
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
  }

  /** Admits work represented by one promise. Rejects with the Problem if it has waited too long. */
  run<R>(share: Share, cost: number, act: () => Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      const start = (leave: () => void): void => {
        act().finally(leave).then(resolve, reject);
      };
      this.enter(share, cost, start, reject, () => false);
    });
  }

  #tenantOf({ key, weight }: Share): Tenant {
    let tenant = this.#tenants.get(key);
    if (!tenant) {
      tenant = { key, weight, inUse: 0, turn: weight, waiting: [] };
      this.#tenants.set(key, tenant);
    }
    return tenant;
  }

  #forgetIdle({ key, inUse, waiting }: Tenant): void {
    if (inUse === 0 && waiting.length === 0) this.#tenants.delete(key);
  }

  /** A tenant without a request in progress may exceed the capacity by one, so that a costly request can be admitted. */
  #fits({ inUse }: Tenant, cost: number): boolean {
    if (inUse === 0) return this.#used < this.#limits.capacity;
    return this.#used + cost <= this.#limits.capacity && inUse + cost <= this.#share;
  }

  get #share(): number {
    const { capacity, share, minContendedShare, maxContendedShare } = this.#limits;
    const active = this.#active.count(performance.now());
    if (active < 2) return share;
    return Math.max(minContendedShare, Math.min(maxContendedShare, Math.floor(capacity / active)));
  }

  /**
   * To be called for each new connection. The event loop accepts one connection per turn. If turns are long, connections for health checks
   * and other tenants wait for seconds behind those of a flood, where admission cannot see them.
   */
  connectionAccepted(): void {
    this.#hasAccepted = true;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#slice());
  }

  #slice(): void {
    this.#isScheduled = false;
    const now = performance.now();
    if (this.#hasAccepted) {
      this.#hasAccepted = false;
      if (now - this.#yieldedAt >= 2 * yieldMs) this.#yieldedAt = now;
      if (now - this.#yieldedAt < yieldMs) return this.#schedule();
    }
    if (this.#startNext(now + sliceMs)) this.#schedule();
  }

  /** Starts waiting requests, one tenant after another. Returns whether it ran out of time. */
  #startNext(until: number): boolean {
    for (const tenant of this.#ring) {
      if (this.#used >= this.#limits.capacity) return false;
      for (let next = tenant.waiting[0]; next && tenant.turn > 0; next = tenant.waiting[0]) {
        if (!this.#fits(tenant, next.cost)) break;
        const now = performance.now();
        if (now > until) return true;
        tenant.turn -= 1;
        this.#take(tenant);
        if (next.isGone()) next.reject(overloaded());
        else {
          this.#observer.waited(now - next.since, 'admitted');
          next.start();
        }
      }
      if (tenant.waiting.length === 0 || tenant.turn === 0) this.#endTurn(tenant);
      // It waits for capacity, not for its own share: the tenants behind it must not repeatedly use up that capacity.
      else if (tenant.inUse === 0 || tenant.inUse + (tenant.waiting[0]?.cost ?? 0) <= this.#share)
        return false;
    }
    return false;
  }

  #take(tenant: Tenant): void {
    tenant.waiting.shift();
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Moves it to the end of the ring, if it still has waiting requests. */
  #endTurn(tenant: Tenant): void {
    tenant.turn = tenant.weight;
    this.#ring.delete(tenant);
    if (tenant.waiting.length > 0) this.#ring.add(tenant);
    else this.#forgetIdle(tenant);
  }

  /** Rejects requests that have waited too long. */
  #sweep(): void {
    const before = performance.now() - this.#limits.maxWaitMs;
    for (const tenant of this.#ring) {
      for (let next = tenant.waiting[0]; next && next.since < before; next = tenant.waiting[0]) {
        this.#take(tenant);
        this.#observer.waited(performance.now() - next.since, 'shed');
        next.reject(overloaded());
      }
      if (tenant.waiting.length === 0) this.#endTurn(tenant);
    }
  }
}

const activeMs = 1_000;

/** Counts the tenants that sent a request within the last second; the count may include those of up to two seconds ago. */
class ActiveTenants {
  #tenants = new Set<string | number>();
  #countBefore = 0;
  #since = Number.NEGATIVE_INFINITY;

  add(tenant: string | number, at: number): void {
    if (at - this.#since >= activeMs) {
      this.#countBefore = this.count(at);
      this.#tenants = new Set();
      this.#since = at;
    }
    this.#tenants.add(tenant);
  }

  count(at: number): number {
    const elapsed = at - this.#since;
    if (elapsed >= 2 * activeMs) return 0;
    return elapsed >= activeMs ? this.#tenants.size : Math.max(this.#countBefore, this.#tenants.size);
  }
}
