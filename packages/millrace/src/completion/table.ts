import { environmentKinds } from '@millrace/contract/environment';
import type { Argument, Command, Option } from 'commander';

/** A word that a shell may insert. */
export interface Word {
  readonly word: string;
  readonly description: string;
}

/** The words for an argument or for the value of an option, or the kind of path that the shell completes by itself. */
export type Values = readonly Word[] | 'file' | 'folder';

/** A command in the table: the words that may follow it. */
export interface Entry {
  /** The names of the command, such as `runs list`; empty for the program. */
  readonly path: string;
  readonly subcommands: readonly Word[];
  readonly options: readonly Word[];
  /** Options with a value, such as `--status` and `-n`. */
  readonly valued: readonly string[];
  /** By option; those with free text are left out. */
  readonly values: Readonly<Record<string, Values>>;
  /** By position; undefined for free text. The last one is repeated if `isVariadic`. */
  readonly arguments: readonly (Values | undefined)[];
  readonly isVariadic: boolean;
}

/**
 * The entries of all commands.
 *
 * @param words arguments by command that the definition of the command does not list
 */
export function entriesOf(
  command: Command,
  words: Readonly<Record<string, readonly Word[]>> = {},
  parents: readonly string[] = [],
): readonly Entry[] {
  const path = parents.join(' ');
  const { options, registeredArguments } = command;
  const valued = options.filter((option) => option.required || option.optional);
  const own: Entry = {
    path,
    subcommands: command.commands.map((sub) => wordOf(sub.name(), sub.description())),
    options: [...options.flatMap(wordsOf), wordOf('--help', 'show help')],
    valued: valued.flatMap(flagsOf),
    values: Object.fromEntries(
      valued.flatMap((option) => {
        const found = valuesOf(option);
        return found === undefined ? [] : flagsOf(option).map((flag) => [flag, found]);
      }),
    ),
    arguments: words[path] ? [words[path]] : registeredArguments.map(valuesOf),
    isVariadic: registeredArguments.at(-1)?.variadic ?? false,
  };
  const below = command.commands.flatMap((sub) => entriesOf(sub, words, [...parents, sub.name()]));
  return [own, ...below];
}

const flagsOf = ({ long, short }: Option): string[] => [long, short].filter((flag) => flag !== undefined);

/** A short option is only offered if it has no long form. */
const wordsOf = (option: Option): Word[] =>
  flagsOf(option)
    .slice(0, 1)
    .map((flag) => wordOf(flag, option.description));

/** The values of arguments and options by their name in the definition, such as `<folder>`. */
const valuesByName: Readonly<Record<string, Values>> = {
  dir: 'folder',
  folder: 'folder',
  file: 'file',
  environment: environmentKinds.map((kind) => wordOf(kind, '')),
};

function valuesOf(definition: Option | Argument): Values | undefined {
  const { argChoices } = definition;
  if (argChoices) return argChoices.map((choice) => wordOf(choice, ''));
  const name = 'flags' in definition ? /[<[]([\w-]+)/.exec(definition.flags)?.[1] : definition.name();
  return valuesByName[name ?? ''];
}

function wordOf(word: string, description: string): Word {
  return { word, description };
}
