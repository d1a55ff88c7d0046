import { boundedText, storable } from '../bounded-text.ts';

/** Characters of a line's message, and of its properties as JSON. */
export const maxCharacters = 65_536;

/** What JSON has no form for, in a form that a reader of logs understands. */
function readable(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `[function ${value.name}]`;
  if (typeof value === 'symbol') return String(value);
  if (value instanceof Error)
    return Object.assign({ name: value.name, message: value.message, stack: value.stack }, value);
  if (value instanceof Map) return Object.fromEntries(value as Map<unknown, unknown>);
  if (value instanceof Set) return [...(value as Set<unknown>)];
  return value;
}

/** Properties of a log line as JSON text: an object; of a text that is too long, its beginning under `cut`. Never throws: a log line must not fail a run. */
export function propertiesText(properties: unknown): string {
  const ancestors: unknown[] = [];
  try {
    const text: string | undefined = JSON.stringify(
      properties,
      function replace(this: unknown, _, value: unknown) {
        const shown = readable(value);
        if (typeof shown !== 'object' || shown === null) return shown;
        // `this` holds the value: what lies above it in the list is no ancestor any more.
        while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
        if (ancestors.includes(shown)) return '[circular]';
        ancestors.push(shown);
        return shown;
      },
    );
    const object = text?.startsWith('{') ? text : `{"value":${text ?? null}}`;
    return object.length <= maxCharacters
      ? object
      : JSON.stringify({ cut: boundedText(object, maxCharacters) });
  } catch (error) {
    return JSON.stringify({ unreadable: boundedText(String((error as Error)?.message), 1_000) });
  }
}
