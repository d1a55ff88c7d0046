import { writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { FromExecutor } from './messages.ts';

/** Writes to the runner synchronously, because the process exits and pending asynchronous writes would be lost. */
export function writeMessagesSync(pipe: Socket, messages: readonly FromExecutor[]): void {
  // Do not write into a line that is only partly written.
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
