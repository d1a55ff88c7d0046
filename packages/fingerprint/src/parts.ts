/**
 * The reduced form of an error. Two errors with the same task, `family` or else `type`, `compared`, `origin` and `causes` are the same bug.
 */
export interface FingerprintParts {
  /** The class of the error. Never empty. */
  readonly type: string;
  /** The normalized message in readable form. Never empty, at most 500 characters, and storable in PostgreSQL. */
  readonly message: string;
  /** The functions of the app that the error was thrown through, innermost first, at most three. */
  readonly frames: readonly string[];
  /** Replaces the class if that depends on the Node or library version. */
  readonly family: string | undefined;
  /** The form of the message used for comparison. */
  readonly compared: string;
  /** The function that identifies the origin of the error. Empty if it is not shown reliably. */
  readonly origin: string;
  /** Type and message of at most three causes. */
  readonly causes: readonly string[];
}
