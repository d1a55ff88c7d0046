import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Database, ServerOptions } from '@millrace/server';
import { onTestFinished } from 'vitest';

export interface ServerSettings extends Pick<ServerOptions, 'leaseTimes'> {
  readonly database: Database;
  /** 0, a free port, by default. */
  readonly port?: number;
  /** The server's clock is ahead by this much. A message with a number sets it later. */
  readonly shiftMs?: number;
  /** The SQL of another release, applied first. */
  readonly folder?: string;
}

export interface ServerProcess {
  readonly process: ChildProcess;
  readonly url: string;
  readonly port: number;
  /** The secret key of the environment `prod`. */
  readonly secretKey: string;
  readonly projectRef: string;
  /** Warnings and errors in its log. */
  readonly log: () => string;
}

/** Starts a built server in a separate process with these Node.js flags. It can be killed and is killed when the test ends. */
export async function startServerProcess(
  settings: ServerSettings,
  flags: readonly string[] = [],
): Promise<ServerProcess> {
  const child = spawn(
    fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url)),
    [...flags, fileURLToPath(new URL('program.ts', import.meta.url))],
    {
      env: { ...process.env, SERVER_OF_A_TEST: JSON.stringify(settings) },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  let log = '';
  child.stderr?.on('data', (text: Buffer) => {
    log += text.toString();
  });
  const exited = once(child, 'exit').then(() => {
    throw new Error(`The server ended before it was ready: ${log}`);
  });
  exited.catch(() => {});
  const [ready] = (await Promise.race([once(child, 'message'), exited])) as [
    Pick<ServerProcess, 'url' | 'port' | 'secretKey' | 'projectRef'>,
  ];
  return { ...ready, process: child, log: () => log };
}
