import { spawn } from 'node:child_process';
import { open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { logFile } from '../host/protocol.ts';

/** A start that takes longer has failed, or its process has been stopped. */
const staleMs = 30_000;

/**
 * Starts a host unless another process is already doing so. Returns a function to call when it is serving or has failed; undefined if it
 * was not started.
 */
export async function startHost(
  main: string,
  folder: string,
): Promise<{ readonly failed: Promise<Error>; done(): Promise<void> } | undefined> {
  const lock = join(folder, 'starting');
  try {
    const handle = await open(lock, 'wx');
    await handle.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const since = await stat(lock).catch(() => undefined);
    if (since && Date.now() - since.mtimeMs > staleMs) await rm(lock, { force: true });
    return undefined;
  }
  const child = spawn(process.execPath, [main, folder, process.env['MILLRACE_TEST_IDLE_MS'] ?? '3000'], {
    detached: true,
    stdio: 'ignore',
    cwd: folder,
    env: hostEnvironment(),
  });
  const failed = new Promise<Error>((resolve) => {
    child.once('error', resolve);
    child.once('exit', (code) => void explain(folder, code).then(resolve));
  });
  child.unref();
  return { failed, done: () => rm(lock, { force: true }) };
}

/** Excludes variables that a test runner sets for its own processes, and those that would change the behavior of a server. */
function hostEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(?:NODE_|VITEST|JEST|OTEL_|MILLRACE_|PG[A-Z]+$|DATABASE_)/.test(name),
  );
  return Object.fromEntries(entries);
}

async function explain(folder: string, code: number | null): Promise<Error> {
  const log = await readFile(join(folder, logFile), 'utf8').catch(() => '');
  const last = log.trim().split('\n').slice(-12).join('\n');
  return new Error(
    `The engine of the tests did not start (exit code ${code}). The end of ${join(folder, logFile)}:\n${last}`,
  );
}
