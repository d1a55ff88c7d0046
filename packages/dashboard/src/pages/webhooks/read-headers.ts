/**
 * Headers from lines such as `X-GitHub-Event: push`.
 *
 * @example readHeaders('X-A: b') // { headers: { 'X-A': 'b' } }
 */
export function readHeaders(
  text: string,
): { readonly headers: Readonly<Record<string, string>> } | { readonly error: string } {
  const headers: Record<string, string> = {};
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    const [, name, value] = /^([A-Za-z0-9_-]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined)
      return { error: `"${line}" is not a header. Write a name and a value, such as X-GitHub-Event: push.` };
    headers[name] = value;
  }
  return { headers };
}
