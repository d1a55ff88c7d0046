import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from './files.ts';
import { readAll, readText } from './findings.ts';
import { misspelled } from './spelling.ts';

const dictionary = JSON.parse(await readFile(join(repository, 'cspell.json'), 'utf8')) as {
  readonly words: readonly string[];
  readonly ignoreWords: readonly string[];
};

test('finds a misspelled word once for each area, and British spelling', async () => {
  const page = readText(
    'a.md',
    'A colour.\n\nIt recieves `recieves` runs, and recieves more. It doesn’t reach 10ms.\n',
  );
  const code = readText(
    'a.ts',
    "/** The runner recieves a recievedRun. */\nconst a = 'A run doesn\\'t wait for POSTGRESQL.';\n",
  );
  const found = await misspelled([page, code]);
  expect(found.map(({ area, at, text }) => [area, at, text])).toEqual([
    ['docs', 'a.md:1', 'colour'],
    ['docs', 'a.md:3', 'recieves'],
    ['source', 'a.ts:1', 'recieves'],
  ]);
});

test('the words of the project are sorted and in use', () => {
  for (const words of [dictionary.words, dictionary.ignoreWords])
    expect(words).toEqual(words.toSorted((a, b) => a.localeCompare(b, 'en')));
  const used = new Set(
    readAll().flatMap(({ passages }) =>
      passages.flatMap(({ text }) => text.toLowerCase().match(/[a-z]+/g) ?? []),
    ),
  );
  const unused = [...dictionary.words, ...dictionary.ignoreWords].filter(
    (word) => !used.has(word.toLowerCase()),
  );
  expect(unused).toEqual([]);
});
