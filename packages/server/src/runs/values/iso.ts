/**
 * The last second that was formatted, and its text. Times of one reply are usually close together, and `toISOString` dominates the cost of a
 * timeline.
 */
let second = Number.NaN;
let text = '';

/** Milliseconds since 1970, with or without fractions, in the API's format. */
export function iso(ms: number): string {
  const whole = Math.floor(ms / 1_000);
  if (whole !== second) {
    text = new Date(whole * 1_000).toISOString().slice(0, -4);
    second = whole;
  }
  return `${text}${String(Math.floor(ms) - whole * 1_000).padStart(3, '0')}Z`;
}
