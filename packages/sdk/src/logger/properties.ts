import { boundedText } from '../bounded-text.ts';
import { readable, unreadable } from './readable.ts';

/** Characters of a line's message, and of its properties as JSON. */
export const maxCharacters = 65_536;

/**
 * Properties of a log line as JSON text: an object; of a text that is too long, its beginning under `cut`. Never throws: a log line must not
 * fail a run.
 * @param omits members with these names are left out, at any depth
 */
export function propertiesText(properties: unknown, omits?: (name: string) => boolean): string {
  let text: string;
  try {
    text = JSON.stringify(readable(properties, omits) ?? null);
  } catch (thrown) {
    text = JSON.stringify(unreadable(thrown));
  }
  const object = text.startsWith('{') ? text : `{"value":${text}}`;
  return object.length <= maxCharacters
    ? object
    : JSON.stringify({ cut: boundedText(object, maxCharacters) });
}
