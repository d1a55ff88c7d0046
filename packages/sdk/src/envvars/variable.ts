/** A variable as returned by the API. */
export interface EnvironmentVariable {
  name: string;
  /** `<redacted>` for a secret variable. */
  value: string;
  isSecret: boolean;
  /** Only in branches: whether the branch does not have its own value, so this is the parent's value. */
  isInherited?: boolean | undefined;
}

/** The result of a call that changes something. */
export interface Success {
  success: boolean;
}

/** A variable to set. */
export interface CreateVariable {
  /** Letters, digits and `_`, at most 255 characters, not starting with a digit or `MILLRACE_`. */
  name: string;
  /** Text, at most 128,000 bytes. */
  value: string;
  /**
   * Whether the value is never shown again, and redacted from logs, outputs and errors of runs. Default: unchanged for an existing variable.
   */
  isSecret?: boolean;
}

/** Variables to set at once. */
export interface UploadVariables {
  variables: Record<string, string>;
  /** For a branch: variables to set in its parent. */
  parentVariables?: Record<string, string>;
  /** Whether to also set existing variables. Default false: if one exists, nothing is set. */
  override?: boolean;
  /** Applies to all of them. Default: unchanged for an existing variable, false for a new one. */
  isSecret?: boolean;
}
