import { expect, test } from 'vitest';
import { examples } from '../../packages/millrace/src/cli/examples.ts';
import { program } from '../../packages/millrace/src/cli/program.ts';
import { leaves } from './leaves.ts';
import { cliPage } from './page.ts';

test('docs/cli.md matches the definitions of the commands', async () => {
  await expect(await cliPage()).toMatchFileSnapshot('../../docs/cli.md');
});

test('every example belongs to a command', async () => {
  const commands = leaves(await program());
  for (const [words, lines] of Object.entries(examples)) {
    expect(commands.has(words), words).toBe(true);
    for (const line of lines) expect(line).toContain(`millrace ${words}`);
  }
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
