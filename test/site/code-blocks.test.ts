/** Every TypeScript block in the documentation compiles with the built packages. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { repository } from '../cli/command.ts';
import { codeBlocks, typeErrors } from './code-blocks.ts';

/** Pages of docs/, and the README that npm shows for each package. */
async function pages(): Promise<string[]> {
  const docs = await Promise.all(
    ['docs', 'docs/coming-from', 'docs/decisions'].map(async (folder) =>
      (await readdir(join(repository, folder))).map((name) => join(folder, name)),
    ),
  );
  // The README of the dashboard shows a part of its own code.
  const packages = (await readdir(join(repository, 'packages')))
    .filter((name) => name !== 'dashboard')
    .map((name) => join('packages', name, 'README.md'));
  return ['README.md', ...docs.flat().filter((path) => path.endsWith('.md')), ...packages];
}

/** A page with mistakes, each at the line in its name. */
const wrong = `# Wrong

<!-- ts
declare const customer: { readonly id: string };
-->

\`\`\`ts
import { task } from '@millrace/sdk';

export const charge = task({ id: 'charge', run: async ({ cents }: { cents: number }) => cents });
await charge.trigger({ cents: customer.id });
\`\`\`

\`\`\`ts
// tasks/a.ts
export const a = 1;
\`\`\`

\`\`\`ts
import { b } from './tasks/a.ts';
missing(b);
\`\`\`
`;

let errors: string[];
beforeAll(async () => {
  const documented = await Promise.all(
    (await pages()).map(async (page) => codeBlocks(page, await readFile(join(repository, page), 'utf8'))),
  );
  expect(documented.flat().filter(({ isHidden }) => !isHidden).length).toBeGreaterThan(60);
  errors = await typeErrors([...documented.flat(), ...codeBlocks('wrong.md', wrong)]);
}, 120_000);

test('every block of the documentation compiles', () => {
  expect(errors.filter((error) => !error.startsWith('wrong.md'))).toEqual([]);
});

test('a block that would be overlooked is rejected', () => {
  for (const block of [
    '- A list:\n\n  ```ts\n  missing();\n  ```\n',
    '```ts {1}\nmissing();\n```\n',
    '```ts\nmissing();\n',
  ])
    expect(() => codeBlocks('page.md', block)).toThrow(/^page\.md has a block/);
});

test('a block that does not compile is reported with page and line', () => {
  expect(errors.filter((error) => error.startsWith('wrong.md')).toSorted()).toEqual([
    expect.stringMatching(/^wrong\.md:11: Type 'string' is not assignable to type 'number'/),
    expect.stringMatching(/^wrong\.md:20: .*has no exported member 'b'/),
    expect.stringMatching(/^wrong\.md:21: Cannot find name 'missing'/),
  ]);
});
