import { setTimeout as wait } from 'node:timers/promises';
import { explainOutput } from './errors.ts';
import { launch, type Launch, type Server } from './launch.ts';
import { clearLeftBehind } from './left-behind.ts';

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
/** A server that stayed up this long had started well: its end is counted as the first failure, not one more. */
const STEADY_MS = 10_000;

/** Starts the server and starts it again whenever it ends without being asked to, after growing pauses. */
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
        onLog('PostgreSQL stopped unexpectedly: starting it again');
        // No pause before the first attempt: after a kill, recovery is all that is needed.
        await pause(failures === 1 ? 0 : Math.min(100 * 2 ** (failures - 2), MAX_PAUSE_MS), stopping.signal);
        if (stopping.signal.aborted) return { error: null };
        try {
          await clearLeftBehind(options.clusterFolder, options.socketFolder, onLog);
          server = launch(options);
          // Asked to stop while it was being launched: nobody else has seen this one.
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

/** The first start, whose failure is the caller's to hear at once. */
async function startOnce(options: Launch): Promise<Server> {
  await clearLeftBehind(options.clusterFolder, options.socketFolder, options.onLog);
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

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, { signal }).catch(() => {});
}
