import type { Command, Option } from 'commander';
import { expect, test } from 'vitest';
import { program } from './program.ts';

const root = await program();

/** Every command with its full name, such as `runs bulk list`. */
function* commandsBelow(parent: Command, prefix = ''): Generator<{ name: string; command: Command }> {
  for (const command of parent.commands) {
    const name = `${prefix}${command.name()}`;
    yield { name, command };
    yield* commandsBelow(command, `${name} `);
  }
}
const commands = [...commandsBelow(root)];

function help(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 80 });
  command.outputHelp();
  return text;
}

test('lists the commands by area, one per line', () => {
  const text = help(root);
  expect([...text.matchAll(/^(\w+):$/gm)].map(([, heading]) => heading)).toEqual([
    'Options',
    'Develop',
    'Deploy',
    'Runs',
    'Observe',
    'Configure',
    'Administer',
  ]);
  expect(text.match(/^ {2}[a-z]/gm)).toHaveLength(root.commands.length);
  expect(text.split('\n').filter((line) => /^ {3}/.test(line) || line.length > 80)).toEqual([]);
});

test('describes every command, argument and option in lower case without a final period', () => {
  const described = commands.flatMap(({ name, command }) => [
    [name, command.description()],
    ...command.registeredArguments
      .filter((argument) => argument.description !== '')
      .map((argument) => [`${name} <${argument.name()}>`, argument.description]),
    ...command.options.map((option) => [`${name} ${option.flags}`, option.description]),
  ]);
  expect(described.length).toBeGreaterThan(500);
  // Abbreviations and variable names keep their case.
  expect(described.filter(([, text = '']) => !/^(?:[a-z0-9]|[A-Z]{2}).*[^.]$/.test(text))).toEqual([]);
});

/** Options that several commands share, and their common wording. */
const wording: Readonly<Record<string, string>> = {
  '--url <url>': 'URL of the server',
  '--key <key>': 'secret key of the environment',
  '--key <token>': 'alias of --token',
  '--token <token>': 'personal access token',
  '--env <environment>': 'fail unless the key belongs to this environment',
  '--dir <folder>': 'project folder, used to find its `millrace dev`',
  '--branch <name>': 'branch of the preview or dev environment',
  '--project <ref>': 'project ref (proj_…); optional if you have only one',
  '--org <id>': 'organization ID (org_…); optional if you belong to only one',
  '--codec <file>': 'codec file that decrypts payloads and outputs (default: from the project in --dir)',
  '--limit <count>': 'maximum number of results',
  '--task <id>': 'filter by task ID',
  '--queue <name>': 'filter by queue name; task/<id> is the queue of a task',
  '--status <status>': 'filter by status',
  '--tag <tag>': 'filter by tag',
  '--run-version <version>': 'filter by version, such as 20261121.3',
  '--force': 'promote the version even if no connected runner has loaded it',
  '--json': 'print JSON',
  '--verbose': 'print all logs of the server and the database to stderr',
  '-y, --yes': 'skip the confirmation prompt',
};

/** Commands in which such an option has a different meaning. Other options may add a condition to the wording. */
const otherMeaning: Readonly<Record<string, readonly string[]>> = {
  '--url <url>': ['doctor'],
  '--key <key>': ['doctor'],
  '--env <environment>': [
    'branches archive',
    'branches create',
    'dev',
    'keys create',
    'keys list',
    'keys revoke',
    'keys rotate',
    'projects delete',
  ],
  '--dir <folder>': ['dev', 'work'],
  '--branch <name>': ['deploy', 'work'],
  '--project <ref>': [
    'audit',
    'deploy',
    'env diff',
    'env history',
    'env import',
    'env list',
    'env pull',
    'env push',
    'env rollback',
    'env set',
    'env unset',
  ],
  '--limit <count>': ['logs', 'models usage', 'stats'],
  '--task <id>': ['alerts add', 'alerts update', 'keys create'],
  '--queue <name>': ['alerts add', 'alerts update', 'trigger'],
  '--tag <tag>': ['trigger'],
  '--force': ['env pull', 'export'],
  '--json': ['demo', 'dev', 'mcp', 'start', 'work'],
};

const sharesWording = ({ flags, description }: Option): boolean =>
  description.startsWith(wording[flags] ?? description);

test('describes an option the same in all commands', () => {
  const different: Record<string, string[]> = {};
  for (const { name, command } of commands)
    for (const option of command.options)
      if (!sharesWording(option)) (different[option.flags] ??= []).push(name);
  for (const names of Object.values(different)) names.sort();
  expect(different).toEqual(otherMeaning);
});

test.each([
  [['dpeloy'], 'deploy'],
  [['runs', 'lst'], 'list'],
  [['trigger', 'hello', '--paylod', '1'], '--payload'],
])('suggests the nearest name for %j', async (args, nearest) => {
  const typed = await program(args[0]);
  let errors = '';
  const redirect = (command: Command): void => {
    command.configureOutput({ writeErr: (text) => (errors += text) });
    command.commands.forEach(redirect);
  };
  redirect(typed);
  await expect(typed.parseAsync(args, { from: 'user' })).rejects.toThrow(/^error: unknown /);
  expect(errors).toContain(`Did you mean ${nearest}?`);
});
