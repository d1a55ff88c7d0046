import { blank, codeWord, isPhrase, passage, type Passage } from './passage.ts';

const parts = /(?:--[^\n]*(?:\n[ \t]*(?=--))?)+|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g;

/** The comments of SQL. */
export const sqlComments = (source: string): Passage[] =>
  [...source.matchAll(parts)]
    .filter(([text]) => !text.startsWith("'"))
    .map(({ 0: text, index }) => passage('comment', source, [index, index + text.length], cleanComment));

/** The messages in string literals of SQL. */
export const sqlStrings = (source: string): Passage[] =>
  [...source.matchAll(parts)]
    .filter(([text]) => text.startsWith("'"))
    .map(({ 0: text, index }) => passage('string', source, [index + 1, index + text.length - 1]))
    .filter(({ text }) => isPhrase(text));

/** The words of SQL outside of comments and string literals: names and keywords. */
export const sqlNames = (source: string): string[] =>
  source.replaceAll(parts, ' ').match(/[A-Za-z_]\w*/g) ?? [];

const cleanComment = (text: string): string =>
  text.replaceAll(/^\s*--+|\/\*+|\*\/|^\s*\*/gm, blank).replaceAll(/`[^`]+`/g, codeWord);
