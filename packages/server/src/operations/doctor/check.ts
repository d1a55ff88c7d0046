import type { Severity } from '@millrace/contract';

/** One thing that may be wrong. Its texts are also what docs/doctor.md has. They never hold a secret. */
export interface Check<Facts> {
  /** Lower case with hyphens; unique among all checks. */
  readonly name: string;
  /** What is checked, in a few words. */
  readonly looksAt: string;
  /** Of whatever it finds. */
  readonly severity: Severity;
  readonly why: string;
  /** The command or the setting that mends it. */
  readonly mend: string;
  /** Returns what is wrong, with its values. Changes nothing. */
  find(facts: Facts): Promise<readonly Found[]>;
}

export interface Found {
  readonly what: string;
  /** A command with the values of this finding, instead of that of the check. */
  readonly mend?: string;
}

/** It cannot be checked here. The message says why. */
export class Skipped extends Error {
  override name = 'Skipped';
}
