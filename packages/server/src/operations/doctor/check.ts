import type { Severity } from '@millrace/contract';

/** One possible problem. Its texts are also in docs/doctor.md. They never contain secrets. */
export interface Check<Input> {
  /** Lower case with hyphens; unique among all checks. */
  readonly name: string;
  /** The subject of the check, in a few words. */
  readonly condition: string;
  /** The severity of its findings. */
  readonly severity: Severity;
  readonly why: string;
  /** The command or the setting that fixes the problem. */
  readonly fix: string;
  /** Returns the problems with their values, without changing anything. */
  find(input: Input): Promise<readonly Found[]>;
}

export interface Found {
  readonly what: string;
  /** A command with the values of this finding, which replaces that of the check. */
  readonly fix?: string;
}

/** The check is not possible here. The message contains the reason. */
export class Skipped extends Error {
  override name = 'Skipped';
}
