/** A variable as it is shown. */
export interface EnvironmentVariable {
  name: string;
  /** `<redacted>` for a secret one. */
  value: string;
  isSecret: boolean;
  /** In a branch only: whether the branch has no value of its own, and this is that of the parent. */
  isInherited?: boolean | undefined;
}

/** What a call that changes something answers. */
export interface Success {
  success: boolean;
}

/** A variable to set. */
export interface CreateVariable {
  /** Letters, digits and `_`, at most 255, no digit first; not `MILLRACE_…`. */
  name: string;
  /** Text, at most 128,000 bytes. */
  value: string;
  /** Never shown again, and cut out of logs, outputs and errors of runs. Left out: an existing variable stays what it is. */
  isSecret?: boolean;
}

/** Variables to set at once. */
export interface UploadVariables {
  variables: Record<string, string>;
  /** For a branch: set in its parent. */
  parentVariables?: Record<string, string>;
  /** Set those that exist, too. Default false: then nothing is set when one exists. */
  override?: boolean;
  /** Of all of them. Default: an existing variable stays what it is, a new one is not secret. */
  isSecret?: boolean;
}
