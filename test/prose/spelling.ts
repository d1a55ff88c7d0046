import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { repository } from './files.ts';
import type { FileText, Finding } from './findings.ts';

/** Words that are neither in the dictionaries of cspell nor in cspell.json, each at its first place. */
export async function misspelled(all: readonly FileText[]): Promise<Finding[]> {
  const found = new Map<string, Finding>();
  for (const { path, passages } of all)
    for (const { line, text } of passages)
      for (const word of wordsIn(text))
        if (!found.has(word)) found.set(word, { kind: 'spelling', at: `${path}:${line}`, text: word });
  const unknown = await unknownOf([...found.keys()]);
  return [...found.values()].filter(({ text }) => unknown.has(text));
}

/** Words in lower case and capitalized ones. Others are identifiers, abbreviations and ids. */
const wordsIn = (text: string): string[] =>
  text.match(/(?<![\w$@#/\\.{<%-])[A-Z]?[a-z]{3,}(?:['’](?!s\b)[a-z]+)?(?![\w$/\\{(=%]|\.\w|-[A-Z\d])/g) ??
  [];

function unknownOf(words: readonly string[]): Promise<Set<string>> {
  return new Promise((resolve, reject) => {
    const cspell = execFile(
      process.execPath,
      [
        join(repository, 'node_modules/cspell/bin.mjs'),
        '--config',
        join(repository, 'cspell.json'),
        '--no-progress',
        '--no-summary',
        '--words-only',
        'stdin',
      ],
      { maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        // It fails if it finds unknown words.
        if (error && error.code !== 1) reject(new Error(stderr, { cause: error }));
        else resolve(new Set(stdout.split('\n').filter(Boolean)));
      },
    );
    cspell.stdin?.end(words.join('\n'));
  });
}
