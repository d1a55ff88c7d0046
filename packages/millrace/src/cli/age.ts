/** How long ago, in the largest unit: `12s`, `5m`, `3h`, `4d`. */
export function age(at: Date, now = Date.now()): string {
  const seconds = Math.max(0, Math.floor((now - at.getTime()) / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
