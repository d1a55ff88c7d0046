import { blank, codeWord, isPhrase, lineAt, passage, type Passage } from './passage.ts';

const parts = /(?:--[^\n]*(?:\n[ \t]*(?=--))?)+|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g;

/** Comments, messages and names of a SQL file. */
export function readSql(source: string): {
  readonly passages: readonly Passage[];
  readonly names: ReadonlyMap<string, number>;
} {
  const names = new Map<string, number>();
  for (const { name, offset } of sqlNames(source))
    if (!names.has(name)) names.set(name, lineAt(source, offset));
  return { passages: [...sqlComments(source), ...sqlStrings(source)], names };
}

/** The comments of SQL. */
export const sqlComments = (source: string): Passage[] =>
  [...source.matchAll(parts)]
    .filter(([text]) => !text.startsWith("'"))
    .map(({ 0: text, index }) => passage('comment', source, [index, index + text.length], cleanComment));

/** The messages in string literals of SQL. */
const sqlStrings = (source: string): Passage[] =>
  [...source.matchAll(parts)]
    .filter(([text]) => text.startsWith("'"))
    .map(({ 0: text, index }) => passage('string', source, [index + 1, index + text.length - 1]))
    .filter(({ text }) => isPhrase(text));

/** The words of SQL outside of comments and string literals: names and keywords. */
export const sqlNames = (source: string): { readonly name: string; readonly offset: number }[] =>
  [...source.replaceAll(parts, blank).matchAll(/[A-Za-z_]\w*/g)].map(({ 0: name, index: offset }) => ({
    name,
    offset,
  }));

const cleanComment = (text: string): string =>
  text.replaceAll(/^\s*--+|\/\*+|\*\/|^\s*\*/gm, blank).replaceAll(/`[^`]+`/g, codeWord);
