/** A part of a source file, between two positions. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A source file as text, and as code without texts and comments. */
export interface Source {
  readonly text: string;
  readonly code: string;
}

export interface Member {
  readonly name: string;
  readonly at: number;
  readonly value: Span;
}

export interface Call {
  readonly at: number;
  readonly args: readonly Span[];
}

/** The calls of a function. `name` is a regular expression. */
export function* callsOf({ code }: Source, name: string): Generator<Call> {
  for (const match of code.matchAll(new RegExp(`${name}\\s*(?=[(<])`, 'g'))) {
    const open = afterTypes(code, match.index + match[0].length);
    if (open !== undefined) yield { at: match.index, args: parts(code, open) };
  }
}

/** The members of an object literal, or none if the span is another expression. */
export function membersOf({ text, code }: Source, span: Span): Member[] {
  const open = firstCode(code, span);
  if (code[open] !== '{') return [];
  return parts(code, open).flatMap((part) => {
    const at = firstCode(code, part);
    const found = /^(?:async\s+|get\s+|\*\s*)*(?:(['"])([^'"]+)\1|([\w$]+))\s*(:?)/.exec(
      text.slice(at, part.to),
    );
    if (!found) return [];
    const [all, , quoted, plain, colon] = found;
    const name = quoted ?? plain ?? '';
    return [{ name, at, value: { from: colon ? at + all.length : part.to, to: part.to } }];
  });
}

/** The elements of an array literal, or the expression itself. */
export function elementsOf({ code }: Source, span: Span): readonly Span[] {
  const open = firstCode(code, span);
  return code[open] === '[' ? parts(code, open) : [span];
}

/** The position of the first character that is not a space. */
export function firstCode(code: string, { from, to }: Span): number {
  let at = from;
  while (at < to && /\s/.test(code[at] ?? '')) at += 1;
  return at;
}

/** The position of the opening parenthesis behind the type arguments of a call. */
function afterTypes(code: string, from: number): number | undefined {
  if (code[from] === '(') return from;
  let depth = 0;
  for (let at = from; at < code.length; at += 1) {
    if (code[at] === '<') depth += 1;
    if (code[at] === '>' && code[at - 1] !== '=') depth -= 1;
    if (depth > 0) continue;
    const rest = at + 1 + (/^\s*/.exec(code.slice(at + 1))?.[0].length ?? 0);
    return code[rest] === '(' ? rest : undefined;
  }
  return undefined;
}

/** The parts between the commas in a pair of brackets. */
function parts(code: string, open: number): Span[] {
  const found: Span[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = open; at < code.length; at += 1) {
    const char = code[at] ?? '';
    if ('([{'.includes(char)) depth += 1;
    if (')]}'.includes(char)) depth -= 1;
    if ((char === ',' && depth === 1) || depth === 0) {
      if (firstCode(code, { from, to: at }) < at) found.push({ from, to: at });
      from = at + 1;
    }
    if (depth === 0) break;
  }
  return found;
}
