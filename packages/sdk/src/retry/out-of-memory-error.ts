/**
 * Throw it in a task where something ran out of memory without ending the process, such as a native library or a program that the task
 * started. The run is tried again on the machine of `retry.outOfMemory`; without one, or if it ran on that machine, it fails.
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

/** By name: copies of this package, and the published SDK, have classes of their own. */
export const isOutOfMemory = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.name === 'OutOfMemoryError';
