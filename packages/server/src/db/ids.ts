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
    // 252 is the largest multiple of 36 in a byte. Larger bytes would favor the first letters.
    if (byte < 252) text += alphabet[byte % 36];
  }
  return text;
}

/** An unguessable id: the prefix and 20 letters and digits, such as `proj_…`. */
export const newId = (prefix: string): string => `${prefix}_${randomLetters(20)}`;

const latest = { at: -1, count: 0 };

/** Three characters that increase with each call within the same millisecond. */
function counterAt(at: number): string {
  latest.count = latest.at === at ? (latest.count + 1) % 36 ** 3 : 0;
  latest.at = at;
  return latest.count.toString(36).padStart(3, '0');
}

/**
 * An id that sorts by time of creation, such as `run_…`. Its 24 characters are 8 of milliseconds, 3 that order the ids of this process in
 * one millisecond, and 13 random ones.
 */
export const newTimedId = (prefix: string, at = Date.now()): string =>
  `${prefix}_${at.toString(36).padStart(8, '0').slice(-8)}${counterAt(at)}${randomLetters(13)}`;
