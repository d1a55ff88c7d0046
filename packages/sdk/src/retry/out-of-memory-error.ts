/**
 * Throw it in a task where something ran out of memory without ending the process, such as a native library or a program that the task started.
 * The run is retried on the machine of `retry.outOfMemory`. Without one, or if it ran on that machine, the run fails.
 *
 * @example
 * if (signal === 'SIGKILL') throw new OutOfMemoryError('ffmpeg was killed');
 */
export class OutOfMemoryError extends Error {
  override readonly name = 'OutOfMemoryError';

  constructor(message = 'The task ran out of memory') {
    super(message);
  }
}

/** Compared by name: other copies of this package, and the published SDK, have their own classes. */
export const isOutOfMemory = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.name === 'OutOfMemoryError';
