/**
 * The names in a text in the format of .env files, for a preview. The server parses the text itself, with the values.
 *
 * @example namesIn('A=1\n# no\nexport B="x\ny=2"') // ['A', 'B']
 */
export function namesIn(text: string): readonly string[] {
  const names = new Set<string>();
  for (const [, name = ''] of text.matchAll(assignment)) names.add(name);
  return [...names];
}

/** A name at the beginning of a line with its value, which may span several lines in quotes. */
const assignment =
  /^[^\S\n]*(?:export[^\S\n]+)?([\w.-]+)[^\S\n]*(?:=[^\S\n]*?|:[^\S\n]+?)(?:[^\S\n]*'(?:\\'|[^'])*'|[^\S\n]*"(?:\\"|[^"])*"|[^\S\n]*`(?:\\`|[^`])*`|[^\n]*)/gm;
