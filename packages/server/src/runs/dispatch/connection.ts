import { randomUUID } from 'node:crypto';
import type { EnvironmentFacts, RunnerMessage } from '@millrace/contract/runner';
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

/** The code with which a WebSocket is closed on purpose. */
const normalClosure = 1000;

export interface RunnerConnection {
  /** Resolves, if it takes time, when the message has been handled. Never rejects. */
  receive(data: Uint8Array): Promise<void> | undefined;
  /** Whether messages of the runner, its heartbeats too, are left unread for now. */
  unread(isUnread: boolean): void;
  /** The socket has closed, with this code. */
  ended(code: number): void;
}

/** Serves one runner's connection, from `hello` to its end. Messages are handled in the order of their arrival. */
export function serveRunner(
  dependencies: ConnectionDependencies,
  env: number,
  environment: EnvironmentFacts,
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
    logging: Promise.resolve(),
    knowsLogged: false,
    renewedAt: performance.now(),
    isOver: () => closing() || !connection.isOpen,
  };
  const failed = (error: unknown): void => warn(connection, error);
  const renew = (): void => {
    if (connection.runner) renewLease(connection, connection.runner).catch(failed);
  };
  /** A runner is not silent while its heartbeats are behind megabytes of other messages: whatever arrives keeps its lease. */
  const renewIfLate = (): void => {
    if (performance.now() - connection.renewedAt > 2 * times.heartbeatMs) renew();
  };
  let unreadTimer: NodeJS.Timeout | undefined;
  let hello: Promise<void> | undefined;
  /** Resolves when the frames that came before have been read. */
  let reading: Promise<unknown> | undefined;

  const close = (reason: string): undefined => {
    refuse(connection, reason, false);
  };
  const handle = (message: RunnerMessage): Promise<void> | undefined => {
    if (message.type === 'hello') {
      if (hello) return close('hello: only the first message may be one.');
      hello = handleHello(connection, message).catch((error: unknown) => {
        failed(error);
        refuse(connection, 'The server could not take this runner on. Connect again.', true);
      });
      return hello;
    }
    if (!hello) return close('The first message must be hello.');
    const done = connection.runner
      ? handleMessage(connection, connection.runner, message)
      : hello.then(() => connection.runner && handleMessage(connection, connection.runner, message));
    return done?.catch((error: unknown) => {
      failed(error);
      // A lost heartbeat is followed by the next one. After any other lost message, the runner must list the attempts that it holds.
      if (message.type !== 'heartbeat' && !connection.isOver())
        refuse(connection, `A message (${message.type}) could not be handled. Connect again.`, true);
    });
  };
  const take = (message: RunnerMessage | { readonly fault: string }): Promise<void> | undefined => {
    if (connection.isRefused) return undefined;
    if (!('fault' in message)) return handle(message);
    failed(message.fault);
    return close(`A message was refused. ${message.fault}`);
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
      // The runner is not silent: this process does not read. What it holds must not be given to others for that.
      if (!isUnread || !connection.isOpen) return;
      unreadTimer = setInterval(renew, times.heartbeatMs);
    },

    ended(code) {
      connection.isOpen = false;
      clearInterval(unreadTimer);
      const { runner } = connection;
      if (!runner) return;
      runners.remove(runner);
      if (closing()) return;
      const held = runner.held.size;
      // It said goodbye after the code of its runs had ended. What it holds all the same never reached it, or was not given back in time.
      const stopped = runner.draining && code === normalClosure;
      if (stopped || (runner.draining && held === 0))
        engine.log.info('runner.left', { runner: runner.id, env, held });
      else engine.log.warn('runner.lost', { runner: runner.id, env, held });
      rescueUnlessBack(connection, runner.id, stopped ? takeLeftovers : rescueRunner);
    },
  };
}
