import { isUtf8 } from 'node:buffer';
import { Turns } from '../json/turns.ts';
import { badRequest } from '../problem.ts';
import { MemberScan } from './member-scan.ts';

export type Line =
  | { readonly number: number; readonly text: string }
  /** Too long to be stored; contains the members that were read from it while scanning. */
  | { readonly number: number; readonly members: Readonly<Record<string, unknown>> };

const newline = 0x0a;
const nothing = Buffer.alloc(0);
const minBufferBytes = 1_024;

/**
 * The lines of a stream of bytes, in groups: the lines completed by each piece. Blank lines are skipped. At most one line and one piece are
 * in memory; of a line longer than `maxBytes` bytes, only numbers and short texts.
 */
export async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
  memberNames: readonly string[],
): AsyncGenerator<Line[]> {
  let number = 0;
  // The beginning of the current line from earlier pieces: a single buffer, regardless of the size of the pieces.
  let buffer: Buffer = nothing;
  let size = 0;
  let scan: MemberScan | undefined;

  /** Switches to scanning once a line is too long; returns whether it has. */
  const isScanned = (part: Buffer): boolean => {
    if (!scan && size + part.length > maxBytes) {
      scan = new MemberScan(memberNames);
      scan.read(buffer.subarray(0, size));
      buffer = nothing;
    }
    scan?.read(part);
    return scan !== undefined;
  };
  const hold = (part: Buffer): void => {
    if (!isScanned(part)) {
      if (size + part.length > buffer.length) {
        // At least doubles the size, so that each byte is copied only a few times.
        const larger = Buffer.allocUnsafe(
          Math.min(maxBytes, Math.max(minBufferBytes, 2 * buffer.length, size + part.length)),
        );
        buffer.copy(larger, 0, 0, size);
        buffer = larger;
      }
      part.copy(buffer, size);
    }
    size += part.length;
  };
  const end = (last: Buffer): Line | undefined => {
    number++;
    let whole = last;
    if (size > 0 || last.length > maxBytes) {
      hold(last);
      whole = buffer.subarray(0, size);
    }
    const scanned = scan;
    buffer = nothing;
    size = 0;
    scan = undefined;
    if (scanned) return { number, members: scanned.members };
    if (!isUtf8(whole)) throw badRequest(`Line ${number} is not valid UTF-8.`);
    const text = whole.toString('utf8');
    return text.trim() === '' ? undefined : { number, text };
  };

  const turns = new Turns();
  for await (const each of bytes) {
    const piece = Buffer.from(each.buffer, each.byteOffset, each.byteLength);
    const lines: Line[] = [];
    let from = 0;
    for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, from)) {
      if (at === from && size === 0) number++;
      else {
        const line = end(piece.subarray(from, at));
        if (line) lines.push(line);
      }
      from = at + 1;
    }
    if (from < piece.length) hold(piece.subarray(from));
    if (lines.length > 0) yield lines;
    await turns.next();
  }
  if (size > 0) {
    const line = end(nothing);
    if (line) yield [line];
  }
}
