/** The position of a cursor in incomplete JSON. */
export interface JsonCursor {
  /** Names and indexes of the enclosing values. */
  readonly path: readonly (string | number)[];
  readonly expects: 'name' | 'value' | 'nothing';
  /** The typed part of the name or value, without its opening quote. */
  readonly typed: string;
  /** The start of the text that a completion replaces. */
  readonly from: number;
  readonly to: number;
  /** Names that the object has before the cursor. */
  readonly names: readonly string[];
}

interface Level {
  readonly isObject: boolean;
  readonly names: string[];
  name: string | undefined;
  index: number;
  state: 'name' | 'colon' | 'value' | 'after';
}

const word = /[\w.+-]/;

/** Parses a text up to the cursor, whether or not it is valid JSON. */
export function jsonCursor(text: string, cursor: number): JsonCursor {
  const levels: Level[] = [];
  let outer: 'value' | 'after' = 'value';
  const top = (): Level | undefined => levels.at(-1);
  const path = (): (string | number)[] =>
    levels.slice(0, -1).map(({ isObject, name, index }) => (isObject ? (name ?? '') : index));
  const at = (typed: string, from: number): JsonCursor => {
    const level = top();
    const expects =
      level === undefined
        ? outer === 'value'
          ? 'value'
          : 'nothing'
        : level.state === 'name'
          ? 'name'
          : level.state === 'value'
            ? 'value'
            : 'nothing';
    const inside = path();
    if (level && expects === 'value') inside.push(level.isObject ? (level.name ?? '') : level.index);
    return { path: inside, expects, typed, from, to: endOf(text, from, cursor), names: level?.names ?? [] };
  };
  const took = (value: string): void => {
    const level = top();
    if (!level) outer = 'after';
    else if (level.state === 'name') {
      level.name = value;
      level.names.push(value);
      level.state = 'colon';
    } else level.state = 'after';
  };

  let position = 0;
  while (position < cursor) {
    const character = text[position] ?? '';
    if (character === '"') {
      const start = position;
      position += 1;
      while (position < text.length && text[position] !== '"' && text[position] !== '\n')
        position += text[position] === '\\' ? 2 : 1;
      const isClosed = text[position] === '"';
      if (position >= cursor || !isClosed) return at(text.slice(start + 1, cursor), start);
      took(text.slice(start + 1, position));
      position += 1;
    } else if (character === '{' || character === '[') {
      const isObject = character === '{';
      levels.push({ isObject, names: [], name: undefined, index: 0, state: isObject ? 'name' : 'value' });
      position += 1;
    } else if (character === '}' || character === ']') {
      levels.pop();
      took('');
      position += 1;
    } else if (character === ',') {
      const level = top();
      if (level) {
        level.index += 1;
        level.state = level.isObject ? 'name' : 'value';
      }
      position += 1;
    } else if (character === ':') {
      const level = top();
      if (level?.isObject) level.state = 'value';
      position += 1;
    } else if (word.test(character)) {
      const start = position;
      while (position < text.length && word.test(text[position] ?? '')) position += 1;
      if (position >= cursor) return at(text.slice(start, cursor), start);
      took(text.slice(start, position));
    } else position += 1;
  }
  return at('', cursor);
}

/** The end of the word or string at the cursor. */
function endOf(text: string, from: number, cursor: number): number {
  if (text[from] === '"') {
    const rest = /^(?:[^"\\\n]|\\.)*/.exec(text.slice(Math.max(from + 1, cursor)))?.[0].length ?? 0;
    const end = Math.max(from + 1, cursor) + rest;
    return text[end] === '"' ? end + 1 : cursor;
  }
  let end = cursor;
  while (from < cursor && end < text.length && word.test(text[end] ?? '')) end += 1;
  return end;
}
