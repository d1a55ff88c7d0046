/** Writes a dotenv file that the `dotenv` library reads back unchanged. */

/** The line of a variable; undefined if no quoting can represent the value. */
function dotenvLine(name: string, value: string): string | undefined {
  if (/^[\w.:/@%+,=-]+$/.test(value)) return `${name}=${value}`;
  // Parsers normalize CRLF, and treat a trailing backslash as an escape of the quote.
  if (value.includes('\r') || value.endsWith('\\')) return undefined;
  for (const quote of ["'", '`']) if (!value.includes(quote)) return `${name}=${quote}${value}${quote}`;
  // In double quotes a backslash may be an escape.
  return value.includes('"') || value.includes('\\') ? undefined : `${name}="${value}"`;
}

export interface DotenvFile {
  readonly text: string;
  /** Variables that a dotenv file cannot represent. */
  readonly missing: readonly string[];
}

export function dotenvFile(variables: Readonly<Record<string, string>>): DotenvFile {
  const lines: string[] = [];
  const missing: string[] = [];
  for (const [name, value] of Object.entries(variables).toSorted(([first], [second]) =>
    first < second ? -1 : 1,
  )) {
    const line = dotenvLine(name, value);
    if (line === undefined) missing.push(name);
    else lines.push(line);
  }
  return { text: lines.map((line) => `${line}\n`).join(''), missing };
}
