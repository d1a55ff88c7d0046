import type { Installation } from './installation.ts';

/** The test file that has just got its server should not share the CPU with the start of another one. */
const quietMs = 700;

/** Keeps one server ready in advance, so that a test file does not wait for a start. */
export class StandbyInstallation {
  readonly #start: () => Promise<Installation>;
  #standby: Promise<Installation> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(start: () => Promise<Installation>) {
    this.#start = start;
    this.prepare();
  }

  prepare(): void {
    this.#standby ??= this.#start();
    this.#standby.catch(() => undefined);
  }

  take(): Promise<Installation> {
    const standby = this.#standby;
    this.#standby = undefined;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.prepare(), quietMs);
    // Even if it could not be started, the next one may.
    return standby?.catch(() => this.#start()) ?? this.#start();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#standby?.then((unused) => unused.close());
  }
}
