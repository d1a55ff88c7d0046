import { superjson } from './superjson.ts';

/**
 * Parses text that `encode` wrote, here or in another client. A null text is `undefined`. Throws a SyntaxError if the text does not match its
 * type, or the type is unknown.
 */
export function decode(text: string | null, type: string): unknown {
  if (text === null) return undefined;
  switch (type) {
    case 'text/plain':
      return text;
    case 'application/json':
      return JSON.parse(text) as unknown;
    case 'application/super+json':
      return superjson.parse(text);
    default:
      throw new SyntaxError(
        `unknown type ${type}; known are application/json, application/super+json and text/plain`,
      );
  }
}
