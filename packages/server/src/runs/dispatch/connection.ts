import { randomUUID } from 'node:crypto';
import type { EnvironmentInfo, RunnerMessage } from '@millrace/contract/runner';
import {
  refuse,
  rescueUnlessBack,
  warn,
  type Connection,
  type ConnectionDependencies,
  type RunnerSocket,
} from './connection-state.ts';
import { handleHello } from './hello.ts';
import { handleMessage, renewLease } from './messages.ts';
import { readFrame } from './read-frame.ts';
import { rescueRunner, takeLeftovers } from './rescue.ts';

/** The code of an intentional WebSocket close. */
const normalClosure = 1000;

export interface RunnerConnection {
  /** Resolves when the message has been handled; undefined if it already has been. Never rejects. */
  receive(data: Uint8Array): Promise<void> | undefined;
  /** Whether the runner's messages, including heartbeats, are left unread for now. */
  unread(isUnread: boolean): void;
  /** Called when the socket has closed, with the close code. */
  ended(code: number): void;
}

/** Serves one runner's connection, from `hello` to its end. Messages are handled in arrival order. */
export function serveRunner(
  dependencies: ConnectionDependencies,
  env: number,
  environment: EnvironmentInfo,
  socket: RunnerSocket,
): RunnerConnection {
  const { engine, runners, times, closing } = dependencies;
  const connection: Connection = {
    ...dependencies,
    id: randomUUID(),
    env,
    environment,
    socket,
    runner: undefined,
    isOpen: true,
    isRefused: false,
    isReconnecting: false,
    logging: Promise.resolve(),
    knowsLogged: false,
    renewedAt: performance.now(),
    clockOffset: 0,
    isOver: () => closing() || !connection.isOpen,
  };
  const failed = (error: unknown): void => warn(connection, error);
  let renewal: NodeJS.Timeout | undefined;
  const renew = (): void => {
    if (connection.runner && !connection.isOver())
      renewLease(connection, connection.runner).catch((error: unknown) => {
        failed(error);
        renewSoon();
      });
  };
  /** After an outage of the database, leases must not wait for the next heartbeat. */
  const renewSoon = (): void => {
    clearTimeout(renewal);
    renewal = setTimeout(renew, times.heartbeatMs / 4);
  };
  /** Any message extends a runner's lease, because its heartbeats may be queued behind megabytes of other messages. */
  const renewIfLate = (): void => {
    if (performance.now() - connection.renewedAt > 2 * times.heartbeatMs) renew();
  };
  let unreadTimer: NodeJS.Timeout | undefined;
  let hello: Promise<void> | undefined;
  /** Resolves when all earlier frames have been read. */
  let reading: Promise<unknown> | undefined;

  const close = (reason: string): undefined => {
    refuse(connection, reason, false);
  };
  const handle = (message: RunnerMessage): Promise<void> | undefined => {
    if (message.type === 'hello') {
      if (hello) return close('hello: only the first message may be a hello.');
      hello = handleHello(connection, message).catch((error: unknown) => {
        failed(error);
        refuse(connection, 'The server could not register this runner. Connect again.', true);
      });
      return hello;
    }
    if (!hello) return close('The first message must be hello.');
    const done = connection.runner
      ? handleMessage(connection, connection.runner, message)
      : hello.then(() => connection.runner && handleMessage(connection, connection.runner, message));
    return done?.catch((error: unknown) => {
      failed(error);
      // If any message other than a heartbeat was lost, the runner must list the attempts that it holds.
      if (message.type === 'heartbeat') renewSoon();
      else if (!connection.isOver())
        refuse(connection, `A message (${message.type}) could not be handled. Connect again.`, true);
    });
  };
  const take = (message: RunnerMessage | { readonly fault: string }): Promise<void> | undefined => {
    if (connection.isRefused) return undefined;
    if (!('fault' in message)) return handle(message);
    failed(message.fault);
    return close(`A message was rejected. ${message.fault}`);
  };

  return {
    receive(data) {
      if (connection.isRefused) return undefined;
      renewIfLate();
      const read = reading ? reading.then(() => readFrame(connection, data)) : readFrame(connection, data);
      if (!(read instanceof Promise)) return take(read);
      const taken = read.then((message) => ({ done: take(message) }));
      reading = taken;
      return taken.then(({ done }) => {
        if (reading === taken) reading = undefined;
        return done;
      });
    },

    unread(isUnread) {
      clearInterval(unreadTimer);
      // The runner is alive, but this process is not reading. Its attempts must not be given to other runners for that reason.
      if (!isUnread || !connection.isOpen) return;
      unreadTimer = setInterval(renew, times.heartbeatMs);
    },

    ended(code) {
      connection.isOpen = false;
      clearInterval(unreadTimer);
      clearTimeout(renewal);
      const { runner } = connection;
      if (!runner) return;
      runners.remove(runner);
      if (closing()) return;
      const leased = runner.leased.size;
      // The runner disconnected cleanly after the code of its runs had ended. Attempts still leased to it never reached it, or were not
      // returned in time.
      const stopped = runner.draining && code === normalClosure;
      if (stopped || (runner.draining && leased === 0))
        engine.log.info('runner.left', { runner: runner.id, env, leased });
      else engine.log.warn('runner.lost', { runner: runner.id, env, leased });
      // A server or a database under load may take longer than the grace period to accept it again. If the runner does not return, its
      // lease expires.
      if (connection.isReconnecting) return;
      rescueUnlessBack(connection, runner.id, stopped ? takeLeftovers : rescueRunner);
    },
  };
}
