/**
 * A source file in which comments, and the contents of texts and regular expressions, are replaced by spaces, so that names and brackets can
 * be searched. Positions are those of the file.
 */
export function codeOf(text: string, { strings = false } = {}): string {
  const blanked: [from: number, to: number][] = [];
  const blank = (from: number, to: number, isText: boolean): void => {
    if (to > from && !(isText && strings)) blanked.push([from, to]);
  };
  /** The depth of braces outside of each open `${`. */
  const templates: number[] = [];
  let depth = 0;
  let at = 0;
  /** Continues in a template behind `at`, up to its end or its next expression. */
  const template = (): void => {
    const from = at;
    while (at < text.length && text[at] !== '`' && !text.startsWith('${', at))
      at += text[at] === '\\' ? 2 : 1;
    blank(from, at, true);
    if (text[at] === '$') {
      templates.push(depth);
      at += 2;
    } else at += 1;
  };
  while (at < text.length) {
    const char = text[at] ?? '';
    if (text.startsWith('//', at)) {
      const end = endAt(text, '\n', at);
      blank(at, end, false);
      at = end;
    } else if (text.startsWith('/*', at)) {
      const end = Math.min(text.length, endAt(text, '*/', at + 2) + 2);
      blank(at, end, false);
      at = end;
    } else if (char === '"' || char === "'" || (char === '/' && startsRegExp(text, at))) {
      const end = closing(text, at);
      // An apostrophe, or a division.
      if (end === undefined) at += 1;
      else {
        blank(at + 1, end, char !== '/');
        at = end + 1;
      }
    } else if (char === '`') {
      at += 1;
      template();
    } else if (char === '}' && templates.at(-1) === depth) {
      templates.pop();
      at += 1;
      template();
    } else {
      if (char === '{') depth += 1;
      if (char === '}') depth -= 1;
      at += 1;
    }
  }
  return withSpaces(text, blanked);
}

function endAt(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found;
}

/** The end of a text or regular expression on the same line. */
function closing(text: string, from: number): number | undefined {
  const mark = text[from];
  let isClass = false;
  for (let at = from + 1; at < text.length && text[at] !== '\n'; at += 1) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (mark === '/' && char === '[') isClass = true;
    else if (mark === '/' && char === ']') isClass = false;
    else if (char === mark && !isClass) return at;
  }
  return undefined;
}

const beforeRegExp = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|await|yield))\s*$/;

const startsRegExp = (text: string, at: number): boolean =>
  beforeRegExp.test(text.slice(Math.max(0, at - 40), at));

function withSpaces(text: string, ranges: readonly (readonly [from: number, to: number])[]): string {
  const parts: string[] = [];
  let last = 0;
  for (const [from, to] of ranges) {
    parts.push(text.slice(last, from), text.slice(from, to).replaceAll(/[^\n]/g, ' '));
    last = to;
  }
  return [...parts, text.slice(last)].join('');
}
