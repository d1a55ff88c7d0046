/** The transfer encoding of an event stream: `chunks`, or `plain` for HTTP/1.0 clients. */
export type Wire = 'chunks' | 'plain';

/** Encodes a text for the socket. The buffer can be shared by all streams with this encoding. */
export function onWire(text: string, wire: Wire): Buffer {
  if (wire === 'plain') return Buffer.from(text);
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

/** The text as `data:` lines, one for each of its lines. CR ends a line as well. */
export const dataLines = (text: string): string =>
  text.includes('\n') || text.includes('\r')
    ? text
        .split(/\r\n|\r|\n/)
        .map((line) => `data: ${line}\n`)
        .join('')
    : `data: ${text}\n`;
