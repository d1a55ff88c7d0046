/** Strings only, in readable form: `?q=status:failed&tab=logs`. */
export const parseSearch = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text));

/** Undefined and empty values are omitted. Colons, commas and slashes stay readable. */
export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const params = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  if (params.length === 0) return '';
  const text = new URLSearchParams(
    params.map(([key, value]): [string, string] => [key, String(value)]),
  ).toString();
  return `?${text.replaceAll(/%(?:3A|2C|2F|40)/g, decodeURIComponent)}`;
}
