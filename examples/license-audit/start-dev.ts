import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** The line that `millrace dev --json` prints when it is ready. */
interface Ready {
  readonly url: string;
  readonly personalAccessToken: string;
  readonly environments: { readonly dev: { readonly secretKey: string } };
}

export interface Dev extends Ready {
  stop(): void;
  /** The exit code. */
  readonly ended: Promise<number>;
}

const command = fileURLToPath(new URL('../../packages/millrace/bin/millrace.js', import.meta.url));

/** Starts `millrace dev` and waits until it is ready. Ends this process with the same result if it does not become ready. */
export async function startDev(args: readonly string[]): Promise<Dev> {
  // Through the `ipc` channel it notices when this process is gone, regardless of how.
  const child = spawn(process.execPath, [command, 'dev', '--json', '--quiet', ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const stop = (): void => void child.kill('SIGTERM');
  // The child receives Ctrl-C as well; this process only waits until the child has ended.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', stop);
  process.on('SIGHUP', stop);
  const ended = once(child, 'exit').then(([code]) => (code as number | null) ?? 1);
  const line = once(createInterface(child.stdout as Readable), 'line').then(([text]) => String(text));
  const first = await Promise.race([line, ended]);
  if (typeof first === 'number') process.exit(first);
  return { ...(JSON.parse(first) as Ready), stop, ended };
}
