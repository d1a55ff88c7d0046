import { boundedText } from '../bounded-text.ts';
import { readable, unreadable, type Readable } from './readable.ts';

/** Characters of a line's message, and of its properties as JSON. */
export const maxCharacters = 65_536;

/** Properties of a log line as the JSON text of an object. Never throws: a log line must not fail a run. */
export const propertiesText = (properties: unknown): string => objectText(readable(properties));

/** The JSON text of an object; other values are its `value`. Of a text that is too long, the beginning under `cut`. */
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
