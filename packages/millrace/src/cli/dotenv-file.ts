/** A dotenv file that the `dotenv` library reads back as what was written. */

/** The line of a variable; undefined when no way of quoting in that form can hold the value. */
function dotenvLine(name: string, value: string): string | undefined {
  if (/^[\w.:/@%+,=-]+$/.test(value)) return `${name}=${value}`;
  // Readers make one line end of two characters, and take a backslash at the end for one that guards the quote.
  if (value.includes('\r') || value.endsWith('\\')) return undefined;
  for (const quote of ["'", '`']) if (!value.includes(quote)) return `${name}=${quote}${value}${quote}`;
  // In these a backslash may mean something.
  return value.includes('"') || value.includes('\\') ? undefined : `${name}="${value}"`;
}

export interface DotenvFile {
  readonly text: string;
  /** Variables that the form cannot hold. */
  readonly missing: readonly string[];
}

export function dotenvFile(variables: Readonly<Record<string, string>>): DotenvFile {
  const lines: string[] = [];
  const missing: string[] = [];
  for (const [name, value] of Object.entries(variables).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  )) {
    const line = dotenvLine(name, value);
    if (line === undefined) missing.push(name);
    else lines.push(line);
  }
  return { text: lines.map((line) => `${line}\n`).join(''), missing };
}
