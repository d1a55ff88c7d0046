/** JSON and YAML of the documentation. TypeScript is compiled by test/site/code-blocks.test.ts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { files, repository } from './files.ts';
import { lineAt } from './passage.ts';

/** The errors of the blocks of a page, as `path:line: message`. */
const errorsIn = (path: string, markdown: string): string[] =>
  [...markdown.matchAll(/^( *)```(json|ya?ml)\n([\s\S]*?)^\1```$/gm)].flatMap(
    ({ index, 2: language, 3: text = '' }) => {
      const message = language === 'json' ? jsonError(text) : parseAllDocuments(text)[0]?.errors[0]?.message;
      return message === undefined ? [] : [`${path}:${lineAt(markdown, index)}: ${message}`];
    },
  );

/** A block is one value, or one value per line. */
function jsonError(text: string): string | undefined {
  const values = /^[[{]\n/.test(text) ? [text] : text.trim().split('\n');
  for (const value of values)
    try {
      JSON.parse(value);
    } catch (error) {
      return (error as Error).message;
    }
  return undefined;
}

test('every block of JSON and YAML is valid', () => {
  const pages = files().filter((path) => path.endsWith('.md'));
  expect(pages.flatMap((path) => errorsIn(path, readFileSync(join(repository, path), 'utf8')))).toEqual([]);
});

test('an invalid block is reported with its page and line', () => {
  const page =
    '# A\n\n```json\n{"a": 1}\n{"a": }\n```\n\n```yaml\na: [1\n```\n\n```json\n{\n  "a": 1\n}\n```\n';
  expect(errorsIn('a.md', page)).toEqual([
    expect.stringMatching(/^a\.md:3: Unexpected token/),
    expect.stringMatching(/^a\.md:8: Flow sequence/),
  ]);
});
