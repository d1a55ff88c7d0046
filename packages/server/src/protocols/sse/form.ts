/** How an event-stream travels: in chunks, unless the client is too old for them. */
export type Wire = 'chunks' | 'plain';

/** A text as it goes to the socket, made once for all who get it. */
export function onWire(text: string, wire: Wire): Buffer {
  if (wire === 'plain') return Buffer.from(text);
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

/** `data:` lines of a text: each of its lines one. CR ends a line here too. */
export const dataLines = (text: string): string =>
  text.includes('\n') || text.includes('\r')
    ? text
        .split(/\r\n|\r|\n/)
        .map((line) => `data: ${line}\n`)
        .join('')
    : `data: ${text}\n`;
