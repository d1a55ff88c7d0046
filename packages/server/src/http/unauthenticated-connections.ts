import { background } from '../background.ts';

/** Limits for connections without a successful request. */
export interface ConnectionLimits {
  /** Milliseconds from the start of a connection to its first successful request. Default 60,000. */
  readonly unauthenticatedMs: number;
  /** Connections without a successful request in this process. Any further connection closes the oldest. Default 2,000. */
  readonly maxUnauthenticated: number;
  /** How long, in milliseconds, an HTTP/2 connection may stay open without an append session. Default 120,000. */
  readonly idleMs: number;
}

/** Load balancers and browsers open connections in advance and use them within a minute. */
export const defaultConnectionLimits: ConnectionLimits = {
  unauthenticatedMs: 60_000,
  maxUnauthenticated: 2_000,
  idleMs: 120_000,
};

interface Connection {
  destroy(): void;
}

/**
 * Tracks connections without a successful request. Any client can open a connection and stay silent, send slowly, or fail repeatedly. Such
 * connections are closed after a time limit, and the oldest is closed when there are too many, so that they cannot exhaust the server.
 */
export class UnauthenticatedConnections {
  readonly limits: ConnectionLimits;
  /** Oldest first. */
  readonly #since = new Map<Connection, number>();
  readonly #stopSweeping: () => void;

  constructor(limits: Partial<ConnectionLimits> = {}) {
    this.limits = { ...defaultConnectionLimits, ...limits };
    const sweepMs = Math.min(1_000, this.limits.unauthenticatedMs / 4);
    this.#stopSweeping = background(sweepMs, () => this.#sweep());
  }

  get size(): number {
    return this.#since.size;
  }

  opened(connection: Connection): void {
    this.#since.set(connection, performance.now());
    if (this.#since.size <= this.limits.maxUnauthenticated) return;
    const [oldest] = this.#since.keys();
    if (oldest) this.#end(oldest);
  }

  /** A request succeeded on the connection, or it closed. */
  forget(connection: Connection): void {
    this.#since.delete(connection);
  }

  stop(): void {
    this.#stopSweeping();
  }

  #sweep(): void {
    const before = performance.now() - this.limits.unauthenticatedMs;
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
