import { expect, test } from 'vitest';
import { program } from '../../packages/millrace/src/cli/program.ts';
import { leaves } from './leaves.ts';
import { cliPage } from './page.ts';

test('docs/cli.md matches the definitions of the commands', async () => {
  await expect(await cliPage()).toMatchFileSnapshot('../../docs/cli.md');
});

test('the page has a section for every command, with each of its options', async () => {
  const page = await cliPage();
  const sections = new Map(
    page
      .split('\n### millrace ')
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf('\n')), section]),
  );
  const commands = leaves(await program());
  expect([...sections.keys()].toSorted()).toEqual([...commands.keys()].toSorted());
  const shared = page.slice(0, page.indexOf('## Output'));
  for (const [words, { options }] of commands)
    for (const { flags } of options) {
      const cell = `| \`${flags.replaceAll('|', String.raw`\|`)}\` |`;
      expect(`${shared}${sections.get(words)}`, `${words} ${flags}`).toContain(cell);
    }
});
