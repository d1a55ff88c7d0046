import { isUtf8 } from 'node:buffer';
import { badRequest } from '../problem.ts';
import { MemberScan } from './member-scan.ts';

export type Line =
  | { readonly number: number; readonly text: string }
  /** Too long to be kept; what could be read of it in passing. */
  | { readonly number: number; readonly members: Readonly<Record<string, unknown>> };

const newline = 0x0a;

/**
 * The lines of a stream of bytes, as many at a time as a piece of it brings; blank ones are skipped. Never more than one line and one
 * piece are held: of a line with more than `most` bytes only its numbers and short texts are.
 */
export async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  most: number,
  wanted: readonly string[],
): AsyncGenerator<Line[]> {
  let number = 0;
  let parts: Buffer[] = [];
  let size = 0;
  let scan: MemberScan | undefined;

  const take = (part: Buffer): void => {
    size += part.length;
    if (scan) return scan.read(part);
    if (size <= most) return void parts.push(part);
    scan = new MemberScan(wanted);
    for (const each of [...parts, part]) scan.read(each);
    parts = [];
  };
  const end = (): Line | undefined => {
    number++;
    const whole = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    const scanned = scan;
    parts = [];
    size = 0;
    scan = undefined;
    if (scanned) return { number, members: scanned.members };
    if (!isUtf8(whole)) throw badRequest(`Line ${number} is not valid UTF-8.`);
    const text = whole.toString('utf8');
    return text.trim() === '' ? undefined : { number, text };
  };

  for await (const each of bytes) {
    const piece = Buffer.from(each.buffer, each.byteOffset, each.byteLength);
    const lines: Line[] = [];
    let from = 0;
    for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, from)) {
      take(piece.subarray(from, at));
      const line = end();
      if (line) lines.push(line);
      from = at + 1;
    }
    if (from < piece.length) take(piece.subarray(from));
    if (lines.length > 0) yield lines;
  }
  if (size > 0) {
    const line = end();
    if (line) yield [line];
  }
}
