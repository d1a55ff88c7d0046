/** The text of the repository reads like English. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from './files.ts';
import { lineOf, report } from './report.ts';

const { all, open, unused } = await report();

test('has no text that reads as a translation, no banned identifier and no misspelled word', () => {
  expect(open.map(lineOf)).toEqual([]);
});

test('uses every entry of the list of allowed matches', () => {
  expect(unused).toEqual([]);
});

test('sorts the words in cspell.json and uses every one', async () => {
  const dictionary = JSON.parse(await readFile(join(repository, 'cspell.json'), 'utf8')) as Record<
    'words' | 'ignoreWords',
    readonly string[]
  >;
  for (const words of [dictionary.words, dictionary.ignoreWords])
    expect(words).toEqual(words.toSorted((a, b) => a.localeCompare(b, 'en')));
  const used = new Set(
    all.flatMap(({ passages }) => passages.flatMap(({ text }) => text.toLowerCase().match(/[a-z]+/g) ?? [])),
  );
  const unusedWords = [...dictionary.words, ...dictionary.ignoreWords].filter(
    (word) => !used.has(word.toLowerCase()),
  );
  expect(unusedWords).toEqual([]);
});
