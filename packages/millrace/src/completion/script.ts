import type { Command } from 'commander';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { entriesOf, type Word } from './table.ts';
import { zshScript } from './zsh.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

export type Shell = keyof typeof scripts;
export const shells = Object.keys(scripts) as readonly Shell[];

/**
 * The completion script of a shell. It contains all commands, so that completing a word starts no program.
 *
 * @param words arguments by command that the definition of the command does not list
 */
export const completionScript = (
  shell: Shell,
  root: Command,
  version: string,
  words: Readonly<Record<string, readonly Word[]>>,
): string => scripts[shell](entriesOf(root, words), version);
