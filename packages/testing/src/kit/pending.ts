import { fileURLToPath } from 'node:url';

/** This package, source and build, whose frames are hidden from stacks. */
const own = fileURLToPath(new URL('../../', import.meta.url));

/** Unfinished calls of a test, each with the position where it was made. */
export class PendingCalls {
  readonly #pending = new Map<Promise<unknown>, string>();

  /** Tracks a call until it has ended. `what` is the call as it appears in the test. */
  track<T>(what: string, act: () => Promise<T>): Promise<T> {
    const where = callerOf(new Error('here').stack ?? '');
    const call = act();
    this.#pending.set(call, `${what}${where}`);
    const over = (): void => void this.#pending.delete(call);
    call.then(over, over);
    return call;
  }

  /** Returns and clears all calls. */
  take(): string[] {
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    return calls;
  }
}

const isOwn = (line: string): boolean => line.includes(own) && !line.includes('.test.');

function callerOf(stack: string): string {
  const line = stack
    .split('\n')
    .slice(1)
    .map((text) => text.trim().replace('file://', ''))
    .find((text) => !isOwn(text) && !/node:|\/node_modules\//.test(text));
  const [, position] = /\(?([^()\s]+:\d+:\d+)\)?$/.exec(line ?? '') ?? [];
  return position === undefined ? '' : ` at ${position}`;
}
