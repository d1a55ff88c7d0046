import type { FileText, Finding } from './findings.ts';

/** Pages whose median sentence has at least this number of words are hard to read. */
const maxMedian = 20;
/** Items of a list and headings are not sentences. */
const minWords = 4;

/** Documentation pages with long sentences. */
export const densePages = (all: readonly FileText[]): Finding[] =>
  all
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, passages }) => {
      const median = medianOf(
        passages.filter(({ place }) => place === 'page').flatMap(({ text }) => sentenceLengths(text)),
      );
      return median < maxMedian
        ? []
        : [{ kind: 'dense page', at: path, text: `the median sentence has ${median} words` }];
    });

/** The number of words of each sentence. */
export const sentenceLengths = (text: string): number[] =>
  text
    .split(/(?<=[.!?])\s+(?=[A-Z_])/)
    .map((sentence) => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length)
    .filter((length) => length >= minWords);

function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
