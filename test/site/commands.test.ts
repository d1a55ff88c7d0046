/** Commands in the documentation exist, with their options. */
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { program } from '../../packages/millrace/src/cli/program.ts';
import { repository } from '../cli/command.ts';

interface CommandLine {
  readonly page: string;
  readonly words: readonly string[];
}

/** The words of each command line on a page, in blocks and in the text. */
function commandLinesIn(page: string, markdown: string): CommandLine[] {
  const blocks = [...markdown.matchAll(/^```sh[^\n]*\n([\s\S]*?)^```/gm)].map(([, code = '']) => code);
  const rest = markdown.replaceAll(/^```[\s\S]*?^```/gm, '');
  const inline = [...rest.matchAll(/`([^`]*)`/g)].map(([, code = '']) => code.replaceAll('\n', ' '));
  const lines = [...blocks.join('\n').replaceAll('\\\n', ' ').split('\n'), ...inline];
  return lines
    .flatMap((line) => line.replace(/(?:^| )# .*/, '').split(/&&|\||;|\$\(|>/))
    .flatMap((command) => {
      const [, words = ''] =
        /(?:^\s*(?:\w+=\S+ )*|npx (?:--\S+ )*)millrace(?:@\S+)? (\S.*)$/.exec(command) ?? [];
      return words === '' ? [] : [{ page, words: words.trim().split(/\s+/) }];
    });
}

/** The problem with a command line; undefined if there is none. */
function wrongWith(root: Command, { page, words }: CommandLine): string | undefined {
  let command = root;
  let rest = words;
  for (;;) {
    const next = command.commands.find((sub) => sub.name() === rest[0]);
    if (!next) break;
    command = next;
    rest = rest.slice(1);
  }
  const line = `${page}: millrace ${words.join(' ')}`;
  if (command === root) return /^[<…-]/.test(words[0] ?? '') ? undefined : `${line}: no such command`;
  const group = command.commands.length > 0;
  const isNamed = /^[a-z]/.test(rest[0] ?? '');
  // `backup` alone means `backup create`, and `queues list|pause` names several commands.
  const known = group
    ? command.commands.flatMap(({ options }) => options)
    : [...command.options, ...root.options];
  if (group && isNamed && !rest[0]?.includes('|')) return `${line}: no such subcommand`;
  const missing = rest
    .map((word) => /^--[a-z][a-z-]*/.exec(word)?.[0])
    .filter((option) => option !== undefined && option !== '--help')
    .find((option) => !known.some(({ long }) => long === option));
  return missing === undefined ? undefined : `${line}: no option ${missing}`;
}

test('commands and options of the documentation exist', async () => {
  const found: CommandLine[] = [];
  for await (const page of glob(
    ['README.md', 'docs/*.md', 'docs/coming-from/*.md', 'packages/*/README.md', 'examples/*/README.md'],
    { cwd: repository },
  ))
    found.push(...commandLinesIn(page, await readFile(join(repository, page), 'utf8')));
  expect(found.length).toBeGreaterThan(300);
  const root = await program();
  expect(found.map((line) => wrongWith(root, line)).filter((wrong) => wrong !== undefined)).toEqual([]);
});

test('a command or an option that does not exist is reported', async () => {
  const root = await program();
  const page =
    '```sh\nnpx millrace runs lst\nmillrace errors resolve error_1 --in 2\nmillrace runs list --tag a # fine\n```\n`millrace bogus`';
  expect(commandLinesIn('page.md', page).map((line) => wrongWith(root, line))).toEqual([
    'page.md: millrace runs lst: no such subcommand',
    'page.md: millrace errors resolve error_1 --in 2: no option --in',
    undefined,
    'page.md: millrace bogus: no such command',
  ]);
});
