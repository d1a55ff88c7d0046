const none: Readonly<Record<string, string>> = Object.freeze({});

/** The query as a plain object. The last value of a repeated name takes precedence. */
export function parseQuery(text: string): Readonly<Record<string, string>> {
  if (text === '') return none;
  // No prototype: a parameter may be called `__proto__`.
  const values: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) values[name] = value;
  return values;
}
