import { expect, test } from 'vitest';
import { readText } from './findings.ts';
import { misspelled } from './spelling.ts';

test('finds a misspelled word once, and British spelling', async () => {
  const page = readText(
    'a.md',
    'A colour.\n\nIt recieves `recieves` runs, and recieves more. It doesn’t reach 10ms.\n',
  );
  const code = readText(
    'a.ts',
    "/** The runner recieves a recievedRun. */\nconst a = 'A run doesn\\'t wait for POSTGRESQL.';\n",
  );
  const found = await misspelled([page, code]);
  expect(found.map(({ at, text }) => [at, text])).toEqual([
    ['a.md:1', 'colour'],
    ['a.md:3', 'recieves'],
  ]);
  // On a busy machine, the start of cspell takes half a minute.
}, 120_000);
