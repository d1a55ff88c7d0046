import { writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { FromExecutor } from './messages.ts';

/** File descriptor of the pipe to the runner. */
export const pipeDescriptor = 3;

/**
 * Sends messages to the runner. Each line begins with a token known only to this object and the runner. Task code can write to the pipe,
 * but the runner rejects such lines.
 */
export class ToRunner {
  readonly #pipe: Socket;
  #token = '';

  constructor(pipe: Socket) {
    this.#pipe = pipe;
  }

  /** Sets the token, which arrives with the first message. */
  identify(token: string): void {
    this.#token = token;
  }

  /** Number of characters that have not been written yet. */
  get backlog(): number {
    return this.#pipe.writableLength;
  }

  send(message: FromExecutor): void {
    this.#pipe.write(this.#line(message));
  }

  /** Writes synchronously, because the process exits and pending asynchronous writes would be lost. */
  sendSync(messages: readonly FromExecutor[]): void {
    // A line that is only partly written must not be interrupted.
    if (this.backlog > 0) return;
    const bytes = Buffer.from(messages.map((message) => this.#line(message)).join(''));
    let written = 0;
    for (let tries = 0; written < bytes.length && tries < 1_000; tries += 1) {
      try {
        written += writeSync(pipeDescriptor, bytes, written);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }
    }
  }

  #line(message: FromExecutor): string {
    return `${this.#token}${JSON.stringify(message)}\n`;
  }
}
