import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { spawnServer, type ServerCommand } from './spawn-server.ts';

/** A server process. */
export interface Server {
  /** Resolves when it accepts connections; rejects with its output if it ended before. */
  ready: Promise<void>;
  /** Resolves with the end of its output when it has ended. */
  ended: Promise<string>;
  /** Ends all sessions, writes a checkpoint and exits; killed after 30 s. */
  shutDown(): void;
}

export interface Launch extends ServerCommand {
  onLog: (line: string) => void;
}

// Logged for each connection attempt during startup and shutdown, possibly hundreds of times.
const refusal =
  /^FATAL: +the database system is (starting up|shutting down|not (yet )?accepting)|Consistent recovery state has not been/;

const PATIENCE_TENTHS = 300;

export function launch(options: Launch): Server {
  const { onLog } = options;
  const child = spawnServer(options);

  const recent: string[] = [];
  const reportedReady = new Promise<void>((resolve) => {
    readLines(child, (line) => {
      if (refusal.test(line)) return;
      recent.push(line);
      if (recent.length > 20) recent.shift();
      onLog(line);
      if (line.endsWith('database system is ready to accept connections')) resolve();
    });
  });
  child.stdin?.on('error', () => {}); // It ended before reading: `ended` reports that.

  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    const resolveWithOutput = (): void => resolve(recent.join('\n').trim());
    child.on('close', resolveWithOutput);
    // `close` would also wait for the pipes, which a remaining session may keep open.
    child.on('exit', () => setTimeout(resolveWithOutput, 200));
  });
  return {
    ready: Promise.race([reportedReady, ended.then((output) => Promise.reject(new Error(output)))]),
    ended,
    shutDown: () => child.stdin?.write(`${PATIENCE_TENTHS}\n`),
  };
}

function readLines({ stdout, stderr }: ChildProcess, onLine: (line: string) => void): void {
  for (const stream of [stdout, stderr]) if (stream) createInterface(stream).on('line', onLine);
}
