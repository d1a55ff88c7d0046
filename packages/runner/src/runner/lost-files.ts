import type { Outcome } from '@millrace/contract/runner';

/** Messages of Node.js and dynamic linkers about a missing file. */
const sentence = /cannot find (?:module|package)|ENOENT|no such file or directory/i;
/** How long the result of a check also applies to other failures of the version, in milliseconds. */
const recentMs = 1_000;

/** Detects failures whose cause may be a lost file of their version, such as a module that the code imports late. */
export class LostFiles {
  readonly #intact: (version: string) => Promise<boolean> | undefined;
  readonly #checks = new Map<string, { readonly at: number; readonly isIntact: Promise<boolean> }>();

  constructor(intact: (version: string) => Promise<boolean> | undefined = () => undefined) {
    this.#intact = intact;
  }

  /** Whether the version is intact, if the outcome reports a missing file. Undefined for all other outcomes. */
  check(version: string, outcome: Outcome): Promise<boolean> | undefined {
    if (outcome.kind !== 'failed') return undefined;
    const { message, stackTrace } = outcome.error;
    if (!sentence.test(message) && !sentence.test(stackTrace)) return undefined;
    const now = performance.now();
    const known = this.#checks.get(version);
    if (known && now - known.at < recentMs) return known.isIntact;
    const isIntact = this.#intact(version);
    if (isIntact) this.#checks.set(version, { at: now, isIntact });
    return isIntact;
  }

  /** Forgets the check, because its files may have changed. */
  forget(version: string): void {
    this.#checks.delete(version);
  }
}
