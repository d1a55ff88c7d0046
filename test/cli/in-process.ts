/** The command inside of the test's process, for its output and its errors: at a hundredth of the cost of a process. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { main as Main } from '../../packages/millrace/src/cli/main.ts';
import { inherited, repository, type RunOptions } from './command.ts';

// Node loads the bundle, as `bin/millrace.js` does: Vitest's imports would share the state of an SDK under test.
const require = createRequire(import.meta.url);
// It starts its service in the folder where it was loaded, and test folders are removed.
require('esbuild');
let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs a command to its end, with the result of `finished` of `command.ts`. One at a time, because a process has one environment and one
 * working directory: a command that ends only when another has run needs a process of its own, as signals and terminals do.
 */
export function finished(
  args: readonly string[],
  options: Omit<RunOptions, 'bin'> & { /** For stdin. */ readonly input?: string },
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const result = previous.then(() => run(args, options));
  previous = result.catch(() => {});
  return result;
}

async function run(
  args: readonly string[],
  { cwd, env = {}, input = '' }: Parameters<typeof finished>[1],
): ReturnType<typeof finished> {
  const { main } = require(join(repository, 'packages/millrace/dist/cli/main.js')) as { main: typeof Main };
  const [stdout, stderr] = [capture(), capture()];
  const before = {
    cwd: process.cwd(),
    env: { ...process.env },
    title: process.title,
    listeners: stopListeners(),
  };
  const restoreStreams = replaceStreams({ stdin: Readable.from([input]), stdout, stderr });
  process.chdir(cwd);
  setEnvironment({ ...inherited, ...env });
  process.exitCode = undefined;
  try {
    const exitCode = await main(args);
    return { exitCode, stdout: stdout.lines(), stderr: stderr.lines() };
  } finally {
    process.exitCode = undefined;
    setEnvironment(before.env);
    process.chdir(before.cwd);
    process.title = before.title;
    restoreStreams();
    // A command that may be interrupted listens to the exit of its process.
    for (const { event, listener } of stopListeners())
      if (!before.listeners.some((known) => known.event === event && known.listener === listener))
        process.off(event, listener);
  }
}

const stopListeners = () =>
  ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK', 'disconnect'].flatMap((event) =>
    process.listeners(event as 'SIGINT').map((listener) => ({ event, listener })),
  );

function capture(): Writable & { lines(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return Object.assign(stream, { lines: () => Buffer.concat(chunks).toString().replace(/\n$/, '') });
}

function replaceStreams(streams: Readonly<Record<'stdin' | 'stdout' | 'stderr', object>>): () => void {
  const own = Object.getOwnPropertyDescriptors(process);
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { value, configurable: true });
  return () => {
    for (const name of Object.keys(streams) as (keyof typeof streams)[])
      Object.defineProperty(process, name, own[name]);
  };
}

function setEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
}
