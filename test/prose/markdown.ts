import { blank, codeWord, passage, type Passage } from './passage.ts';

/** Paragraphs, list items, table cells and headings of a page, without code, comments and addresses. */
export function readMarkdown(source: string): Passage[] {
  const text = source
    .replace(/^---\n[\s\S]*?\n---\n/, blank)
    .replaceAll(/^([ \t]*)(```+)[\s\S]*?^\1\2`*$/gm, blank)
    .replaceAll(/<!--[\s\S]*?-->/g, blank)
    .replaceAll(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, codeWord)
    .replaceAll(/(?<=\])\([^()\s]*\)/g, blank)
    .replaceAll(/https?:[^\s)>]+/g, codeWord)
    .replaceAll(/<\/?[a-z][^>]*>/gi, blank);
  return [...text.matchAll(block)].flatMap(({ 0: found, index }) => {
    if (found.trim() === '' || /^[\s|:-]*$/.test(found)) return [];
    if (found.startsWith('|')) {
      const isHeader = /^\n\|[ \t]*:?-/.test(text.slice(index + found.length));
      return cells(text, index, found).map((cell) => (isHeader ? { ...cell, place: 'heading' } : cell));
    }
    const heading = /^#+\s/.exec(found);
    return passage(heading ? 'heading' : 'page', text, [index, index + found.length], cleanBlock);
  });
}

/** A heading, a row of a table, or lines up to the next blank line, list item, row or heading. */
const block = /^#+ .*|^\|.*|^[^\n]+(?:\n(?!\s*(?:[-*+]|\d+\.) |#+ |\||\s*$)[^\n]+)*/gm;

const cells = (text: string, index: number, row: string): Passage[] =>
  [...row.matchAll(/[^|]+/g)]
    .filter(([cell]) => /[A-Za-z]/.test(cell))
    .map(({ 0: cell, index: at }) =>
      passage('page', text, [index + at, index + at + cell.length], cleanBlock),
    );

const cleanBlock = (text: string): string => text.replaceAll(/^\s*(?:#+|[-*+]|\d+\.|>)\s|[*[\]]/gm, blank);
