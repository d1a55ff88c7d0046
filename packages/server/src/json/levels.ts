/** Limits how deep JSON is nested, without recursion: a client must not be able to exhaust the stack, here or where the JSON is shown. */
import { maxJsonLevels } from '@millrace/contract';
import { badRequest, type Problem } from '../problem.ts';

const quote = 0x22;
const backslash = 0x5c;

/** Counts the levels of a JSON text that arrives in pieces. For other texts the count has no meaning. */
export class LevelCount {
  #level = 0;
  #isInText = false;
  /** The piece ended with a backslash inside a text: the next character is escaped. */
  #isEscaping = false;
  /** The maximum so far. */
  deepest = 0;

  add(piece: string): void {
    for (let at = 0; at < piece.length; at++) {
      if (this.#isInText) {
        at = this.#endOfText(piece, at);
        continue;
      }
      switch (piece.charCodeAt(at)) {
        case quote:
          this.#isInText = true;
          break;
        case 0x5b:
        case 0x7b:
          this.#level++;
          if (this.#level > this.deepest) this.deepest = this.#level;
          break;
        case 0x5d:
        case 0x7d:
          this.#level--;
          break;
      }
    }
  }

  /** The index at which the text ends that continues at `from`; the end of the piece if it goes on. */
  #endOfText(piece: string, from: number): number {
    const found = piece.indexOf('"', this.#isEscaping ? from + 1 : from);
    const end = found === -1 ? piece.length : found;
    let before = end;
    const first = this.#isEscaping ? from + 1 : from;
    while (before > first && piece.charCodeAt(before - 1) === backslash) before--;
    const isEscaped = (end - before) % 2 === 1;
    this.#isEscaping = found === -1 && isEscaped;
    // After an escaped quote the text goes on.
    this.#isInText = found === -1 || isEscaped;
    return end;
  }
}

/** Whether a JSON text has more levels than may be stored. A short text cannot, and is not scanned. */
export function isTooDeep(text: string, max = maxJsonLevels): boolean {
  if (text.length <= 2 * max) return false;
  const count = new LevelCount();
  count.add(text);
  return count.deepest > max;
}

export const tooDeep = (field: string): Problem =>
  badRequest(`${field}: nested more than ${maxJsonLevels} levels deep; send something flatter.`);

/** The JSON text of a field, as it is; 400 if it is nested too deeply. */
export function storableLevels(text: string, field: string): string {
  if (isTooDeep(text)) throw tooDeep(field);
  return text;
}

/** The JSON text of a value; 400 with the name of its field if it is nested too deeply. */
export function jsonOfField(value: unknown, field: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(field);
    throw error;
  }
  return storableLevels(text, field);
}

/** The levels that a request may have around the JSON that is stored. */
const maxEnvelopeLevels = 8;

/** Parses a request; 400 with the name of the field that is nested too deeply. Throws as `JSON.parse` does for invalid JSON. */
export function parseShallow(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isTooDeep(text, maxJsonLevels + maxEnvelopeLevels)) throw tooDeep(deepField(value));
  return value;
}

type Composite = Readonly<Record<string, unknown>>;

export const isComposite = (value: unknown): value is Composite =>
  typeof value === 'object' && value !== null;

const maxNamed = 3;

/** The first names on the path to the deepest value. */
function deepField(value: unknown): string {
  let level = [{ value, path: [] as readonly string[] }].filter((one) => isComposite(one.value));
  let last: readonly string[] = [];
  while (level.length > 0) {
    last = level[0]?.path ?? last;
    level = level.flatMap(({ value: composite, path }) =>
      Object.entries(composite as Composite)
        .filter(([, member]) => isComposite(member))
        .map(([name, member]) => ({
          value: member,
          path: path.length < maxNamed ? [...path, name] : path,
        })),
    );
  }
  return last.length === 0 ? 'The request' : last.join('.').slice(0, 200);
}
