import { setTimeout as wait } from 'node:timers/promises';
import { explainOutput } from './errors.ts';
import { launch, type Launch, type Server } from './launch.ts';
import { cleanUpServer } from './clean-up.ts';

/** How the supervised server ended: by `stop()`, or with an error that restarting could not fix. */
export interface PostgresEnd {
  error: Error | null;
}

export interface Supervised {
  stop(): void;
  exited: Promise<PostgresEnd>;
}

const MAX_PAUSE_MS = 5_000;
const MAX_FAILURES = 10;
/** If a server has run for this long, the failure count is reset. */
const STEADY_MS = 10_000;

/** Starts the server and restarts it after an unexpected end, with growing delays. */
export async function supervise(options: Launch): Promise<Supervised> {
  const { onLog } = options;
  const stopping = new AbortController();
  let server = await startOnce(options);

  const keepRunning = async (): Promise<PostgresEnd> => {
    let failures = 0;
    for (;;) {
      const since = Date.now();
      let output = await server.ended;
      if (Date.now() - since > STEADY_MS) failures = 0;
      for (;;) {
        if (stopping.signal.aborted) return { error: null };
        failures += 1;
        if (failures > MAX_FAILURES) {
          return {
            error: explainOutput('start_failed', 'PostgreSQL keeps stopping', options.clusterFolder, output),
          };
        }
        onLog('PostgreSQL stopped unexpectedly: restarting it');
        // No pause before the first restart.
        await pause(failures === 1 ? 0 : Math.min(100 * 2 ** (failures - 2), MAX_PAUSE_MS), stopping.signal);
        if (stopping.signal.aborted) return { error: null };
        try {
          await cleanUpServer(options.clusterFolder, socketFolderOf(options), onLog);
          server = launch(options);
          // Stopped during the launch, so this server is stopped as well.
          if (stopping.signal.aborted) server.shutDown();
          await server.ready;
          break;
        } catch (error) {
          output = (error as Error).message;
        }
      }
    }
  };

  return {
    exited: keepRunning(),
    stop: () => {
      stopping.abort();
      server.shutDown();
    },
  };
}

/** A failure of the first start is reported to the caller. */
async function startOnce(options: Launch): Promise<Server> {
  await cleanUpServer(options.clusterFolder, socketFolderOf(options), options.onLog);
  const server = launch(options);
  try {
    await server.ready;
    return server;
  } catch (error) {
    throw explainOutput(
      'start_failed',
      'PostgreSQL did not start',
      options.clusterFolder,
      (error as Error).message,
    );
  }
}

const socketFolderOf = ({ listening }: Launch): string | undefined =>
  listening.via === 'socket' ? listening.folder : undefined;

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, { signal }).catch(() => {});
}
