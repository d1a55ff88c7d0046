import { randomBytes } from 'node:crypto';

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
const idPool = { bytes: randomBytes(4_096), at: 0 };

function randomLetters(count: number): string {
  let text = '';
  while (text.length < count) {
    if (idPool.at >= idPool.bytes.length) {
      idPool.bytes = randomBytes(4_096);
      idPool.at = 0;
    }
    const byte = idPool.bytes[idPool.at++] ?? 0;
    // 252 is the largest multiple of 36 in a byte: the rest would favour the first letters.
    if (byte < 252) text += alphabet[byte % 36];
  }
  return text;
}

/** An id that nobody can guess: `proj_` and 20 letters and digits. */
export const newId = (prefix: string): string => `${prefix}_${randomLetters(20)}`;

const latest = { at: -1, count: 0 };

/** Three characters that grow with each call of one millisecond. */
function placeIn(at: number): string {
  latest.count = latest.at === at ? (latest.count + 1) % 36 ** 3 : 0;
  latest.at = at;
  return latest.count.toString(36).padStart(3, '0');
}

/**
 * An id that sorts by time of creation: 8 characters of milliseconds, 3 that keep the order of those that this process makes in one of
 * them, 13 random ones. `run_…`, 24 characters.
 */
export const newTimedId = (prefix: string, at = Date.now()): string =>
  `${prefix}_${at.toString(36).padStart(8, '0').slice(-8)}${placeIn(at)}${randomLetters(13)}`;
