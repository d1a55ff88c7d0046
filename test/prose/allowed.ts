export interface Allowed {
  readonly kind: string;
  /** Part of the text that is allowed. */
  readonly text: RegExp;
  readonly reason: string;
}

/** Matches that are good English or quoted. An entry without a match fails the check. */
export const allowed: readonly Allowed[] = [
  { kind: 'long sentence', text: /^Bundled: /, reason: 'a list of packages with their versions' },
];
