import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { program } from '../cli/program.ts';
import { completionScript, type Shell, shells } from './script.ts';

const run = promisify(execFile);

/** Sends a line and a tab to an interactive zsh whose `compadd` writes the matches to a file. */
const zshDriver = `
zmodload zsh/zpty
zpty z zsh -i
zpty -w -n z "$1"$'\\t'
zpty -r z seen '*<end of matches>*'
zpty -d z
`;
const zshStart = `
PROMPT= PS2=
autoload -Uz compinit
compinit -u -C -d "$SCRIPTS/dump"
source "$SCRIPTS/zsh"
compadd() {
  local -a matches
  if (( \${@[(I)-(O|A|D)]} )); then builtin compadd "$@"; return; fi
  builtin compadd -A matches "$@"
  (( \${#matches} )) && print -rl -- "\${IPREFIX}"\${^matches} >> "$MATCHES"
  builtin compadd "$@"
}
report() { print -n '<end of matches>' }
comppostfuncs+=(report)
`;

const commands: Readonly<Record<Shell, (folder: string, words: readonly string[]) => [string, ...string[]]>> =
  {
    bash: (folder, words) => [
      'bash',
      '--norc',
      '-c',
      `source "$1/bash"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _millrace; printf '%s\\n' "\${COMPREPLY[@]}"`,
      'bash',
      folder,
      ...words,
    ],
    zsh: (folder, words) => ['zsh', '-f', '-c', zshDriver, 'zsh', words.join(' ')],
    fish: (folder, words) => [
      'fish',
      '--no-config',
      '-c',
      'source $argv[1]/fish; complete -C $argv[2]',
      folder,
      words.join(' '),
    ],
  };

const isInstalled = async (shell: Shell): Promise<boolean> =>
  run(shell, ['--version']).then(
    () => true,
    () => false,
  );
const installed = new Map(
  await Promise.all(shells.map(async (shell) => [shell, await isInstalled(shell)] as const)),
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-completion-'));
  const root = await program('completion');
  const words = { help: [{ word: 'not-found', description: '' }] };
  for (const shell of shells)
    await writeFile(join(folder, shell), completionScript(shell, root, '1.2.3', words));
  await writeFile(join(folder, '.zshrc'), zshStart);
  await mkdir(join(folder, 'project'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The words that the shell offers after a line, without their descriptions. The last word is incomplete. */
async function offered(shell: Shell, ...words: string[]): Promise<string[]> {
  const matches = join(folder, 'matches');
  await writeFile(matches, '');
  const [file, ...args] = commands[shell](folder, ['millrace', ...words]);
  const env = { ...process.env, ZDOTDIR: folder, SCRIPTS: folder, MATCHES: matches, TERM: 'dumb' };
  const { stdout } = await run(file, args, { cwd: folder, env });
  const text = shell === 'zsh' ? await readFile(matches, 'utf8') : stdout;
  const found = text.split('\n').map((line) => line.split('\t')[0] ?? '');
  return [...new Set(found)].filter((word) => word !== '').toSorted();
}

describe.each(shells)('%s', (shell) => {
  beforeEach(({ skip }) => skip(installed.get(shell) !== true, `${shell} is not installed`));

  test('completes commands and subcommands', async () => {
    expect(await offered(shell, 're')).toEqual(['restore', 'resume']);
    expect(await offered(shell, 'runs', 're')).toEqual(['replay']);
    expect(await offered(shell, 'runs', 'bulk', 'l')).toEqual(['list']);
  });

  test('completes the options of the command, after options with values', async () => {
    expect(await offered(shell, 'runs', 'list', '--st')).toEqual(['--status']);
    expect(await offered(shell, 'runs', '--st')).toEqual([]);
    expect(await offered(shell, 'runs', 'list', '--period', 'list', '--lim')).toEqual(['--limit']);
  });

  test('completes the values of options and arguments', async () => {
    expect(await offered(shell, 'runs', 'list', '--status', 'C')).toEqual([
      'CANCELED',
      'COMPLETED',
      'CRASHED',
    ]);
    expect(await offered(shell, 'work', '--env', 'p')).toEqual(['preview', 'prod']);
    expect(await offered(shell, 'members', 'role', 'user_1', 'ad')).toEqual(['admin']);
    expect(await offered(shell, 'completion', 'f')).toEqual(['fish']);
    expect(await offered(shell, 'help', 'not-')).toEqual(['not-found']);
  });

  test('completes a value after an equals sign', async () => {
    // bash passes three words, and readline replaces the last one.
    const words = shell === 'bash' ? ['--status', '=', 'FA'] : ['--status=FA'];
    expect(await offered(shell, 'runs', 'list', ...words)).toEqual([
      shell === 'bash' ? 'FAILED' : '--status=FAILED',
    ]);
  });

  test('completes folders', async () => {
    expect(await offered(shell, 'init', 'proj')).toEqual([shell === 'fish' ? 'project/' : 'project']);
  });
});

test('a quote in a description stays within the script', async () => {
  const root = await program('completion');
  root.command('odd').description("Ada's `command` costs $1: it's 100%");
  await writeFile(join(folder, 'quoted'), completionScript('bash', root, '1.2.3', {}));
  await run('bash', ['-n', join(folder, 'quoted')]);
  for (const shell of shells) expect(completionScript(shell, root, '1.2.3', {})).toContain('odd');
});
