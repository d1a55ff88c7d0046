/** The trigrams of lines, as a Bloom filter with one hash: one bit for each trigram. */

const bits = 65_536;
export const termBytes = bits / 8;

/** A block of lines with more text than this would have most bits set. */
export const maxBlockCharacters = 2 * 1024 * 1024;

export class Terms {
  readonly bytes = Buffer.alloc(termBytes);

  addText(text: string): void {
    for (const bit of bitsOfText(text)) this.#set(bit);
  }

  addWord(word: string): void {
    this.#set(bitOfWord(word));
  }

  #set(bit: number): void {
    this.bytes[bit >> 3]! |= 1 << (bit & 7);
  }
}

/** The bits that a block must have to contain a text; none for a text of fewer than three characters. */
export function* bitsOfText(text: string): Generator<number> {
  const folded = text.toLowerCase();
  for (let at = 2; at < folded.length; at += 1) {
    const hash =
      Math.imul(folded.charCodeAt(at - 2), 0x9e37_79b1) ^
      Math.imul(folded.charCodeAt(at - 1), 0x85eb_ca77) ^
      Math.imul(folded.charCodeAt(at), 0xc2b2_ae3d);
    yield (hash ^ (hash >>> 15)) & (bits - 1);
  }
}

/** The bit of a whole word, such as the name of a task. */
export function bitOfWord(word: string): number {
  let hash = 0x811c_9dc5;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 0x0100_0193);
  return (hash ^ (hash >>> 15)) & (bits - 1);
}

export const levelWord = (level: string): string => `level ${level}`;
export const taskWord = (task: string): string => `task ${task}`;
