import { createServer, type Server, type Socket } from 'node:net';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { now, sleep } from './clock.ts';

/** Starts that processes recorded: parallel lists. */
export interface Starts {
  readonly numbers: number[];
  readonly calledAt: number[];
  readonly startedAt: number[];
}

const open = new Set<string>();
process.on('exit', () => {
  for (const path of open) rmSync(path, { force: true });
});

/** Receives data from the recorders of one runner's processes (`project/recorder.ts`). */
export class Collector {
  readonly path: string;
  readonly #server: Server;
  readonly #counts = new Map<Socket, number>();
  readonly #waiting = new Map<Socket, (starts: Starts) => void>();

  private constructor(path: string) {
    this.path = path;
    this.#server = createServer((socket) => this.#hear(socket));
  }

  static async open(): Promise<Collector> {
    const path = `/tmp/millrace-bench-${process.pid}-${Math.round(now() * 1000).toString(36)}.sock`;
    const collector = new Collector(path);
    open.add(path);
    await new Promise<void>((resolve, reject) => {
      collector.#server.on('error', reject).listen(path, resolve);
    });
    return collector;
  }

  /** Runs begun, twice-run ones counted twice; up to 10 ms old. */
  get started(): number {
    return [...this.#counts.values()].reduce((total, count) => total + count, 0);
  }

  async reached(count: number, capMs: number): Promise<boolean> {
    const end = now() + capMs;
    while (this.started < count && now() < end) await sleep(2);
    return this.started >= count;
  }

  /** All starts so far, of processes that live. */
  async starts(): Promise<Starts> {
    const parts = await Promise.all(
      [...this.#counts.keys()].map(
        (socket) =>
          new Promise<Starts>((resolve) => {
            this.#waiting.set(socket, resolve);
            socket.write('?');
          }),
      ),
    );
    return {
      numbers: parts.flatMap(({ numbers }) => numbers),
      calledAt: parts.flatMap(({ calledAt }) => calledAt),
      startedAt: parts.flatMap(({ startedAt }) => startedAt),
    };
  }

  close(): void {
    for (const socket of this.#counts.keys()) socket.destroy();
    this.#server.close();
    rmSync(this.path, { force: true });
    open.delete(this.path);
  }

  #hear(socket: Socket): void {
    this.#counts.set(socket, 0);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#waiting.get(socket)?.({ numbers: [], calledAt: [], startedAt: [] });
      this.#counts.delete(socket);
    });
    createInterface({ input: socket }).on('line', (line) => {
      if (line.startsWith('{')) this.#waiting.get(socket)?.(JSON.parse(line) as Starts);
      else this.#counts.set(socket, Number(line));
    });
  }
}

/** How often runs 0 … n-1 began: exactly once each, or the errors. */
export function account(numbers: readonly number[], n: number): { lost: number; twice: number } {
  const valid = numbers.filter((number) => number >= 0 && number < n);
  const different = new Set(valid).size;
  return { lost: n - different, twice: valid.length - different };
}
