import type { EnvironmentFacts, ServerMessage } from '@millrace/contract/runner';
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
  /** How often a runner says that it lives. Default 10,000. */
  readonly heartbeatMs: number;
  /** How long its leases outlive its last message. Default 30,000. */
  readonly leaseMs: number;
  /** How long a runner whose connection dropped may take to come back before its runs are queued again. Default 500. */
  readonly graceMs: number;
  /** How often the server pings a runner. One that has not answered by the next ping is gone. Default 15,000. */
  readonly pingMs: number;
}

export const defaultLeaseTimes: LeaseTimes = {
  heartbeatMs: 10_000,
  leaseMs: 30_000,
  graceMs: 500,
  pingMs: 15_000,
};

/** What the connections of all runners share. */
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
  /** Shares the event loop among environments: frames of all connections are read in slices. */
  readonly turns: TenantTurns;
  /** True once the server is closing: it ends connections itself then, and their runners will be back. */
  readonly closing: () => boolean;
}

/** The socket as the protocol needs it; the WebSocket library stays in `http/`. */
export interface RunnerSocket {
  send(message: ServerMessage): void;
  close(): void;
}

/** One connection of a runner. */
export interface Connection extends ConnectionDependencies {
  readonly id: string;
  readonly env: number;
  readonly environment: EnvironmentFacts;
  readonly socket: RunnerSocket;
  /** There once its `hello` has been handled. */
  runner: ConnectedRunner | undefined;
  /** False once the socket has closed. */
  isOpen: boolean;
  /** The server has ended it, and reads no further messages. */
  isRefused: boolean;
  /** Resolves when the frames of lines that came so far are on their way to the database. Their order stays. */
  logging: Promise<void>;
  /** The runner understands `logged`. */
  knowsLogged: boolean;
  /** When its lease was last extended, as `performance.now()` says. */
  renewedAt: number;
  /** The runner can only be answered over another connection. */
  readonly isOver: () => boolean;
}

/** Ends the connection. `retry` tells the runner to connect again. */
export function refuse(connection: Connection, reason: string, retry: boolean): void {
  if (connection.isRefused) return;
  connection.isRefused = true;
  connection.socket.send({ type: 'refused', reason, retry });
  connection.socket.close();
}

export const warn = ({ engine, env }: Connection, error: unknown): void =>
  engine.log.warn('runner.refused', { env, error: String(error) });

/** After the end of a connection: takes the runner's attempts back, unless it has another connection by then. */
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
