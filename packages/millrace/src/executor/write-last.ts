import { writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { FromExecutor } from './messages.ts';

/** Writes to the runner when the loop has ended and nothing written in the usual way would leave. */
export function writeLast(pipe: Socket, messages: readonly FromExecutor[]): void {
  // Never into the middle of a line that is half written.
  if (pipe.writableLength > 0) return;
  const bytes = Buffer.from(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  let written = 0;
  for (let tries = 0; written < bytes.length && tries < 1_000; tries += 1) {
    try {
      written += writeSync(3, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
