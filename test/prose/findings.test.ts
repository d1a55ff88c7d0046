import { describe, expect, test } from 'vitest';
import { findingsIn, readText, withoutAllowed } from './findings.ts';
import { kinds } from './kinds.ts';

/** Sentences of each kind, and similar ones in good English. */
const sentences: Readonly<
  Record<string, { readonly bad: readonly string[]; readonly good: readonly string[] }>
> = {
  'what clause': {
    bad: [
      'The server refuses what cannot work.',
      'Each key of what was stored is returned.',
      'What it writes goes to the log.',
      'Permissions: those who may look at runs.',
    ],
    good: [
      'The page shows what changed.',
      'What is printed when a run fails?',
      'See what it costs.',
      'Learn how servers connect and what a commit promises.',
      'What it survives depends on two settings.',
      'Identifies the token, whatever the encoding is.',
      'The result depends on what the task returns.',
      'Rejects invalid settings.',
    ],
  },
  'speaking thing': {
    bad: [
      'The message says why.',
      'Its row tells the reason.',
      'The option asks for a key.',
      'The server wants a name.',
    ],
    good: ['A user who wants a copy can export it.', 'The response contains the reason.'],
  },
  'passive speech': {
    bad: ['The runner is told to stop.', 'Clients are asked to wait.'],
    good: ['The two cannot be told apart.', 'You are asked for a password.', 'The runner is notified.'],
  },
  'of-genitive': {
    bad: [
      'Set the limit of rate of a queue.',
      'The release of croner is fixed.',
      'A key of preview has branches.',
    ],
    good: ['Set the rate limit of a queue.', 'The settings of tasks that have none of their own.'],
  },
  'is no': {
    bad: ['An answer that is no success is retried.', 'These are no files.'],
    good: [
      'There is no run with this ID.',
      'The value null is no limit.',
      'The run is no longer active.',
      'It is no more than a hint.',
    ],
  },
  'indefinite person': {
    bad: ['Nobody can decrypt the value.', 'Whoever has the key can read it.'],
    good: ['No client can decrypt the value.', 'The caller can read it.'],
  },
  'as it is': {
    bad: ['The payload is stored as it is.', 'Records are delivered as they came, in one request.'],
    good: [
      'The file is sent exactly as it is on disk.',
      'Lines are printed as they are written.',
      'The run starts as soon as it is due.',
    ],
  },
  'foreign adverb': {
    bad: [
      'Meanwhile, it waits.',
      'The run goes on.',
      'The file is sealed anew.',
      'It is deleted for good.',
      'It does not run any more.',
      'The schedule fires no more.',
      'Prints at most so many.',
    ],
    good: [
      'This is for good reason.',
      'It goes on to the next step.',
      'The lanes stay in place of the old ones.',
      'One or more, but no more than ten.',
    ],
  },
  'opening of': {
    bad: ['Of its lease.'],
    good: ['Of course, this is rare.', 'The end of its lease.'],
  },
  inversion: {
    bad: ['Limited are triggers and events.', 'Behind the colon stands the reason.'],
    good: ['Triggers are limited.', 'Before the run starts, its lease is created.'],
  },
  'odd verb': {
    bad: [
      'Restart it to mend the index.',
      'The attempt is over.',
      'The runner gives back its runs.',
      'It is created unless it is there.',
      'The token stays good until it ends.',
    ],
    good: [
      'The age is over the limit.',
      'Restart it to fix the index.',
      'The name stands for a task.',
      'Is there a run?',
    ],
  },
  'long sentence': {
    bad: [`The list has ${'one more item and '.repeat(11)}so on.`],
    good: [`The list ends here. ${'It is short. '.repeat(20)}`],
  },
};

const kindsIn = (path: string, source: string): string[] => [
  ...new Set(findingsIn(readText(path, source)).map(({ kind }) => kind)),
];

describe('of each kind', () => {
  test('there are examples', () => {
    expect(kinds.map(({ name }) => name)).toEqual(Object.keys(sentences));
  });

  test.each(Object.entries(sentences).flatMap(([kind, { bad }]) => bad.map((text) => ({ kind, text }))))(
    'finds: $text',
    ({ kind, text }) => {
      expect(kindsIn('page.md', `# A page\n\n${text}\n`)).toContain(kind);
    },
  );

  test.each(Object.values(sentences).flatMap(({ good }) => good))('accepts: %s', (text) => {
    expect(kindsIn('page.md', `# A page\n\n${text}\n`)).toEqual([]);
  });
});

const bad = 'The file is sealed anew.';
const foreign = 'foreign adverb';

test.each([
  ['a paragraph', 'a.md', `# A\n\nA page.\n${bad}\n`, 4],
  ['a list item', 'a.md', `- A page.\n- ${bad}\n`, 2],
  ['a table', 'a.md', `| A | B |\n|---|---|\n| page | ${bad} |\n`, 3],
  ['a sentence on two lines', 'a.md', 'It goes\non.\n', 1],
  ['a line comment', 'a.ts', `const a = 1; // ${bad}\n`, 1],
  ['line comments below each other', 'a.ts', '// It goes\n// on.\nconst a = 1;\n', 1],
  ['a doc comment', 'a.ts', `/**\n * A constant.\n *\n * ${bad}\n */\nconst a = 1;\n`, 4],
  ['a string', 'a.ts', `\nconst a = '${bad}';\n`, 2],
  ['a template', 'a.ts', `const a = \`A $\{1 + 1} b.\n\${bad}\`;\n`.replace('${bad}', bad), 2],
  ['a title of a test', 'a.test.ts', `test('${bad}', () => {});\n`, 1],
  ['text between elements', 'a.tsx', `const a = (\n  <p>\n    A page.\n    ${bad}\n  </p>\n);\n`, 4],
  ['an attribute', 'a.tsx', `const a = <p title="${bad}" />;\n`, 1],
  ['a comment of SQL', 'a.sql', `select 1;\n-- The file\n-- is sealed anew.\n`, 3],
  ['a message of SQL', 'a.sql', `raise exception 'The file is sealed anew';\n`, 1],
  ['a comment of SQL in a template', 'a.ts', `const a = sql\`\n  select 1 -- ${bad}\n\`;\n`, 2],
])('finds it in %s', (_, path, source, line) => {
  expect(findingsIn(readText(path, source))).toEqual([
    { kind: foreign, at: `${path}:${line}`, text: expect.stringContaining('') },
  ]);
});

test.each([
  ['code of a page', 'a.md', `\`\`\`ts\n// ${bad}\n\`\`\`\n\nA \`file sealed anew\` here.\n`],
  ['a comment of a page', 'a.md', `<!-- ${bad} -->\n`],
  ['code in a comment', 'a.ts', '/** A `file sealed anew` here. */\nconst a = 1;\n'],
  ['SQL in a string', 'a.ts', `const a = "select anew from files where is = 'no'";\n`],
  ['the code of a template', 'a.ts', 'const a = `A value ${beside + anew} of it`;\n'],
  ['a regular expression', 'a.ts', 'const a = /the file is anew/;\n'],
])('ignores %s', (_, path, source) => {
  expect(findingsIn(readText(path, source)).filter(({ kind }) => kind === foreign)).toEqual([]);
});

test('finds banned words in declared names, and in names of SQL and of files', () => {
  const source = `
    import { given as input } from './given.ts';
    const givenToken = input, [askedAt] = [1];
    interface Row { readonly made: string; toldTo(said: string): void }
    const row = { kept: 1, 'held': 2 };
    export function letGo({ from: wanted = 1, ...facts }) { return [givenToken, askedAt, wanted, facts, row]; }
    const rows = sql\`select run_heard from attempts\`;
  `;
  const found = findingsIn(readText('packages/sdk/src/mend.ts', source)).map(
    ({ text }) => text.split(' ')[0],
  );
  expect(found.toSorted((a = '', b = '') => a.localeCompare(b, 'en'))).toEqual([
    'askedAt',
    'facts',
    'givenToken',
    'held',
    'kept',
    'letGo',
    'made',
    'mend',
    'run_heard',
    'said',
    'toldTo',
    'wanted',
  ]);
});

test('accepts names with a word of JavaScript or standard English, and names of others', () => {
  const source = `
    import { given } from 'other';
    const oneTimeToken = await Promise.allSettled([given.asked, lookUp()]);
    const schema = { oneOf: [], almost: 1, context: oneTimeToken };
  `;
  expect(findingsIn(readText('a.ts', source))).toEqual([]);
});

test('an allowed match is left out, and an entry without a match is reported', () => {
  const findings = findingsIn(readText('a.md', `${bad}\n\nIt goes on.\n`));
  const used = { kind: foreign, text: /sealed anew/, reason: 'an example' };
  const ofOtherKind = { kind: 'is no', text: /goes on/, reason: 'an example' };
  const { open, unused } = withoutAllowed(findings, [used, ofOtherKind]);
  expect(open.map(({ text }) => text)).toEqual(['It goes on.']);
  expect(unused).toEqual([ofOtherKind]);
});
