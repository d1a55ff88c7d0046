import type { EnvironmentInfo, ServerMessage } from '@millrace/contract/runner';
import type { RunnerVariables } from '../../envvars/variable-cache.ts';
import type { ConnectedRunner, ConnectedRunners } from '../../runners/runners.ts';
import type { Complete } from '../complete/attempt.ts';
import type { ServeUnread } from '../complete/settlements.ts';
import type { Engine } from '../engine/engine.ts';
import type { StoreLines } from '../logs/store.ts';
import type { BeginWaits } from '../waits/begin.ts';
import type { Resume } from '../waits/resume.ts';
import type { Dispatch } from './dispatch.ts';
import { rescueRunner, type takeLeftovers } from './rescue.ts';
import type { TenantTurns } from './tenant-turns.ts';

export interface LeaseTimes {
  /** Interval between a runner's heartbeats. Default 10,000. */
  readonly heartbeatMs: number;
  /** How long its leases outlive its last message. Default 30,000. */
  readonly leaseMs: number;
  /** How long a runner whose connection dropped may take to reconnect before its runs are requeued. Default 2,000. */
  readonly graceMs: number;
  /** Interval of the server's pings. A runner that has not responded by the next ping is considered lost. Default 15,000. */
  readonly pingMs: number;
}

export const defaultLeaseTimes: LeaseTimes = {
  heartbeatMs: 10_000,
  leaseMs: 30_000,
  graceMs: 2_000,
  pingMs: 15_000,
};

/** State shared by the connections of all runners. */
export interface ConnectionDependencies {
  readonly engine: Engine;
  readonly runners: ConnectedRunners;
  readonly dispatch: Dispatch;
  readonly complete: Complete;
  readonly serveUnread: ServeUnread;
  readonly beginWaits: BeginWaits;
  readonly resume: Resume;
  readonly storeLines: StoreLines;
  readonly readVariables: (env: number) => Promise<RunnerVariables>;
  readonly times: LeaseTimes;
  /** Shares the event loop among environments by reading the frames of all connections in slices. */
  readonly turns: TenantTurns;
  /** True while the server is closing. It then ends connections itself, and their runners reconnect. */
  readonly closing: () => boolean;
}

/** The interface of the socket that the protocol requires; the WebSocket library is used only in `http/`. */
export interface RunnerSocket {
  send(message: ServerMessage): void;
  close(): void;
}

/** One connection of a runner. */
export interface Connection extends ConnectionDependencies {
  readonly id: string;
  readonly env: number;
  readonly environment: EnvironmentInfo;
  readonly socket: RunnerSocket;
  /** Set once its `hello` has been handled. */
  runner: ConnectedRunner | undefined;
  /** False once the socket has closed. */
  isOpen: boolean;
  /** Whether the server has ended the connection; it then reads no more messages. */
  isRefused: boolean;
  /** Whether it did so although the runner is alive, and asked the runner to reconnect. */
  isReconnecting: boolean;
  /** Resolves when the log frames received so far have been passed to the database. Their order is preserved. */
  logging: Promise<void>;
  /** Whether the runner supports `logged`. */
  knowsLogged: boolean;
  /** When its lease was last extended, as a `performance.now()` time. */
  renewedAt: number;
  /** The server's clock minus the monotonic one, as the runner knows it. */
  clockOffset: number;
  /** Whether the runner can only be reached over another connection. */
  readonly isOver: () => boolean;
}

/** Ends the connection. With `retry`, the runner reconnects. */
export function refuse(connection: Connection, reason: string, retry: boolean): void {
  if (connection.isRefused) return;
  connection.isRefused = true;
  connection.isReconnecting = retry;
  connection.socket.send({ type: 'refused', reason, retry });
  connection.socket.close();
}

export const warn = ({ engine, env }: Connection, error: unknown): void =>
  engine.log.warn('runner.refused', { env, error: String(error) });

/** Called after a connection has ended. Reclaims the runner's attempts, unless it has another connection by then. */
export function rescueUnlessBack(
  connection: Connection,
  runner: string,
  take: typeof rescueRunner | typeof takeLeftovers = rescueRunner,
): void {
  setTimeout(() => {
    if (connection.closing()) return;
    take(connection, runner, connection.id).catch((error: unknown) => warn(connection, error));
  }, connection.times.graceMs);
}
