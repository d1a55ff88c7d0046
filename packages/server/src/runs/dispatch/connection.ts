import { randomUUID } from 'node:crypto';
import { maxJsonLevels } from '@millrace/contract';
import { runnerMessage, type EnvironmentFacts, type RunnerMessage } from '@millrace/contract/runner';
import { isTooDeep } from '../../json/levels.ts';
import { upTo } from '../../json/shown.ts';
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
import { rescueRunner, takeLeftovers } from './rescue.ts';

/** The code with which a WebSocket is closed on purpose. */
const normalClosure = 1000;

export interface RunnerConnection {
  /** Resolves, if it takes time, when the message has been handled. Never rejects. */
  receive(text: string): Promise<void> | undefined;
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
    knowsLogged: false,
    isOver: () => closing() || !connection.isOpen,
  };
  const failed = (error: unknown): void => warn(connection, error);
  let unreadTimer: NodeJS.Timeout | undefined;
  let hello: Promise<void> = Promise.resolve();

  return {
    receive(text) {
      const message = readMessage(text);
      if (!message) {
        refuse(connection, 'A message could not be read.', false);
        return undefined;
      }
      if (message.type === 'hello') {
        hello = handleHello(connection, message).catch((error: unknown) => {
          failed(error);
          refuse(connection, 'The server could not take this runner on. Connect again.', true);
        });
        return hello;
      }
      const { runner } = connection;
      if (runner) return handleMessage(connection, runner, message)?.catch(failed);
      return hello
        .then(() => (connection.runner ? handleMessage(connection, connection.runner, message) : undefined))
        .catch(failed);
    },

    unread(isUnread) {
      clearInterval(unreadTimer);
      // The runner is not silent: this process does not read. What it holds must not be given to others for that.
      if (!isUnread || !connection.isOpen) return;
      unreadTimer = setInterval(() => {
        if (connection.runner) renewLease(connection, connection.runner).catch(failed);
      }, times.heartbeatMs);
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

function readMessage(text: string): RunnerMessage | undefined {
  try {
    const frame: unknown = JSON.parse(text);
    // What tasks threw or logged may be nested to any depth. Their runs must end all the same.
    return runnerMessage(isTooDeep(text) ? upTo(maxJsonLevels, frame) : frame);
  } catch {
    return undefined;
  }
}
