/** A payload, an output or other data that no text can hold truly: the message names the path of what is in the way. */
export class UnserializableError extends Error {
  override readonly name = 'UnserializableError';
}
