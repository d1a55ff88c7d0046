import { fileURLToPath } from 'node:url';

/** This package, source and build: a reader of an error does not want to see it. */
const own = fileURLToPath(new URL('../../', import.meta.url));

/** Calls that a test has made and that are not over: where each was made. */
export class PendingCalls {
  readonly #pending = new Map<Promise<unknown>, string>();

  /** Remembers a call until it is over. `what` is the call as the test has it. */
  track<T>(what: string, act: () => Promise<T>): Promise<T> {
    const where = callerOf(new Error('here').stack ?? '');
    const call = act();
    this.#pending.set(call, `${what}${where}`);
    const over = (): void => void this.#pending.delete(call);
    call.then(over, over);
    return call;
  }

  /** Forgets them all. */
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
