/** How long, and how many at once, connections may stay without a request that succeeded. */
export interface ConnectionLimits {
  /** Milliseconds from the beginning of a connection to its first successful request. Default 60,000. */
  readonly unprovenMs: number;
  /** Connections without a successful request in this process. One more ends the oldest of them. Default 2,000. */
  readonly maxUnproven: number;
  /** Milliseconds that an HTTP/2 connection may stay without an append session. Default 120,000. */
  readonly idleMs: number;
}

/** Load balancers and browsers open connections ahead of need, and use them within a minute. */
export const defaultConnectionLimits: ConnectionLimits = {
  unprovenMs: 60_000,
  maxUnproven: 2_000,
  idleMs: 120_000,
};

interface Connection {
  destroy(): void;
}

/**
 * The connections on which no request has succeeded yet. Anybody may open one and say nothing, or say it slowly, or be refused again and
 * again: they end after a while, and when there are too many the oldest one ends, so that they cannot keep others out.
 */
export class UnprovenConnections {
  readonly limits: ConnectionLimits;
  /** In the order in which they came. */
  readonly #since = new Map<Connection, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(limits: Partial<ConnectionLimits> = {}) {
    this.limits = { ...defaultConnectionLimits, ...limits };
    const sweepMs = Math.min(1_000, this.limits.unprovenMs / 4);
    this.#timer = setInterval(() => this.#sweep(), sweepMs);
    this.#timer.unref();
  }

  get size(): number {
    return this.#since.size;
  }

  opened(connection: Connection): void {
    this.#since.set(connection, performance.now());
    if (this.#since.size <= this.limits.maxUnproven) return;
    const [oldest] = this.#since.keys();
    if (oldest) this.#end(oldest);
  }

  /** A request succeeded on it, or it is gone. */
  forget(connection: Connection): void {
    this.#since.delete(connection);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sweep(): void {
    const before = performance.now() - this.limits.unprovenMs;
    for (const [connection, since] of this.#since) {
      if (since > before) break;
      this.#end(connection);
    }
  }

  #end(connection: Connection): void {
    this.#since.delete(connection);
    connection.destroy();
  }
}
