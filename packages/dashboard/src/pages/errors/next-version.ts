const versionText = /^(\d{8})\.(\d{1,9})$/;

/**
 * The name of the next version: the day in UTC, and a counter. Undefined if versions have other names.
 *
 * @example nextVersion('20261123.2', Date.parse('2026-11-23T10:00Z')) // '20261123.3'
 */
export function nextVersion(newest: string | undefined, now: number): string | undefined {
  const today = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  if (newest === undefined) return `${today}.1`;
  const [, day, count] = versionText.exec(newest) ?? [];
  if (day === undefined) return undefined;
  return day >= today ? `${day}.${Number(count) + 1}` : `${today}.1`;
}
