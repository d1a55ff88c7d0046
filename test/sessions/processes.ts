import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Database } from '../../packages/server/src/db/connect.ts';
import type { ServerOptions } from '../../packages/server/src/server.ts';

export interface ServerProcess {
  readonly process: ChildProcess;
  readonly port: number;
  readonly url: string;
  readonly secretKey: string;
}

/** A server in a process of its own, started with these flags of Node; killed at the end of the test. */
export async function startServerProcess(
  database: Database,
  port = 0,
  options: Pick<ServerOptions, 'leaseTimes'> = {},
  flags: readonly string[] = [],
): Promise<ServerProcess> {
  const child = spawn(
    fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url)),
    [
      ...flags,
      '--conditions',
      'millrace-source',
      fileURLToPath(new URL('server-process.ts', import.meta.url)),
    ],
    {
      env: { ...process.env, SERVER_OF_A_TEST: JSON.stringify({ database, port, ...options }) },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const [ready] = (await once(child, 'message')) as [{ port: number; secretKey: string }];
  return { process: child, url: `http://127.0.0.1:${ready.port}`, ...ready };
}

/** A request that is sent again until it is answered, as a client does that does not know what became of it. */
export async function insist(
  url: string,
  secretKey: string,
  path: string,
  {
    method = 'POST',
    body,
    headers,
  }: { method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: unknown }> {
  for (;;) {
    try {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${secretKey}`, ...headers },
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(10_000),
      });
      const answer: unknown = await response.json();
      if (response.status < 500) return { status: response.status, body: answer };
    } catch {
      // Nobody there, or gone in the midst of it.
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
