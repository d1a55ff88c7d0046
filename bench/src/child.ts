/** Child processes of the benchmark, none of which outlives it. */
import { fork, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { now } from './clock.ts';

const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

function watch(child: ChildProcess): ChildProcess {
  living.add(child);
  child.once('exit', () => living.delete(child));
  return child;
}

export const start = (command: string, args: readonly string[], options: SpawnOptions): ChildProcess =>
  watch(spawn(command, [...args], options));

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => child.once('exit', () => resolve()));
}

/** Asks it to end and makes it after `patienceMs`. */
export async function end(child: ChildProcess, patienceMs = 10_000): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  await ended(child);
  clearTimeout(timer);
}

/** The first line of JSON that the process prints; rejects with its output if it ends before. */
export function firstLine(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let printed = '';
    let complained = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (complained += text));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const line = printed.split('\n').find((each) => each.startsWith('{') && each.endsWith('}'));
      if (line !== undefined) resolve(JSON.parse(line));
    });
    child.once('exit', (code, signal) =>
      reject(
        new Error(
          `it ended (${code ?? signal}) before it was ready: ${(complained + printed).slice(0, 400)}`,
        ),
      ),
    );
  });
}

/** One of our scripts, which replies to each message with one message. */
export class Script {
  readonly child: ChildProcess;
  readonly spawnedAt = now();
  #settle: { resolve: (reply: unknown) => void; reject: (error: Error) => void } | undefined;

  constructor(path: string, env: Readonly<Record<string, string>> = {}) {
    this.child = watch(
      fork(path, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }),
    );
    this.child.on('message', (message: { reply: unknown } | { error: string }) => {
      if ('error' in message) this.#settle?.reject(new Error(message.error));
      else this.#settle?.resolve(message.reply);
    });
    this.child.once('exit', (code, signal) => this.#settle?.reject(new Error(`it ended: ${code ?? signal}`)));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  ask<T>(message: object): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve: (reply) => resolve(reply as T), reject };
      this.child.send(message);
    });
  }
}

/** The script's side: one reply per message; it ends with the benchmark. */
export function answer(act: (message: never) => Promise<unknown>): void {
  process.on('message', (message) => {
    act(message as never).then(
      (reply) => process.send?.({ reply: reply ?? null }),
      (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}
