/** The reduced form of an error. Two errors with the same task, `family` or else `type`, `compared`, `origin` and `causes` are one bug. */
export interface FingerprintParts {
  /** The class of the error. Never empty. */
  readonly type: string;
  /** The normalized message, readable. Never empty, at most 500 characters, and text that PostgreSQL stores. */
  readonly message: string;
  /** The functions of the app that the error was thrown through, innermost first, at most three. */
  readonly frames: readonly string[];
  /** Replaces the class where that depends on the Node or library version. */
  readonly family: string | undefined;
  /** The compared form of the message. */
  readonly compared: string;
  /** The function that identifies the origin of the error. Empty where no version shows it reliably. */
  readonly origin: string;
  /** Type and message of at most three causes. */
  readonly causes: readonly string[];
}
