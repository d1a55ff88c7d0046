import { expect, test } from 'vitest';
import { readText } from './findings.ts';
import { misspelled } from './spelling.ts';

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
  // On a busy machine, the start of cspell takes half a minute.
}, 120_000);
