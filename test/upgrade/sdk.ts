import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface InstalledSdk {
  /** Calls a function of `MillraceClient`, such as `tasks.trigger`. Rejects with its error. */
  call<R>(name: string, ...args: readonly unknown[]): Promise<R>;
  end(): Promise<void>;
}

interface Reply {
  readonly number: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** `MillraceClient` of an installed version, as in applications of its users. */
export async function startSdk(nodeModules: string, url: string, secretKey: string): Promise<InstalledSdk> {
  const child = fork(
    fileURLToPath(new URL('sdk-process.ts', import.meta.url)),
    [join(nodeModules, '@millrace/sdk/dist/index.js'), url, secretKey],
    { execArgv: [], env: { PATH: process.env['PATH'] } },
  );
  const ended = once(child, 'exit');
  const waiting = new Map<number, (reply: Reply) => void>();
  let count = 0;
  const started = new Promise<Reply>((resolve) => waiting.set(0, resolve));
  child.on('message', (reply: Reply) => {
    waiting.get(reply.number)?.(reply);
    waiting.delete(reply.number);
  });
  await Promise.race([started, ended.then(() => Promise.reject(new Error('The SDK process has ended.')))]);
  return {
    async call<R>(name: string, ...args: readonly unknown[]) {
      count += 1;
      const number = count;
      const reply = await new Promise<Reply>((resolve) => {
        waiting.set(number, resolve);
        child.send({ number, name, args });
      });
      if (reply.error !== undefined) throw new Error(reply.error);
      return reply.result as R;
    },
    async end() {
      child.disconnect();
      await ended;
    },
  };
}
