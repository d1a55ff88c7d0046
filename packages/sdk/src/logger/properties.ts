import { boundedText } from '../bounded-text.ts';
import { readable, unreadable, type Readable } from './readable.ts';

/** Maximum number of characters of a line's message, and of its properties as JSON. */
export const maxCharacters = 65_536;

/** Properties of a log line as the JSON text of an object. Never throws: a log line must not fail a run. */
export const propertiesText = (properties: unknown): string => objectText(readable(properties));

/** The JSON text of an object; other values are stored as its `value`. If the text is too long, its beginning is stored as `cut`. */
export function objectText(value: Readable | undefined): string {
  let text: string;
  try {
    text = JSON.stringify(value ?? null);
  } catch (thrown) {
    text = JSON.stringify(unreadable(thrown));
  }
  const object = text.startsWith('{') ? text : `{"value":${text}}`;
  return object.length <= maxCharacters
    ? object
    : JSON.stringify({ cut: boundedText(object, maxCharacters) });
}
