import type { program } from '../../packages/millrace/src/cli/program.ts';

type Command = Awaited<ReturnType<typeof program>>;

/** Every command without subcommands, by its words, such as `runs bulk list`. */
export function leaves(command: Command, words: readonly string[] = []): Map<string, Command> {
  const found = command.commands.flatMap((sub): [string, Command][] => {
    const path = [...words, sub.name()];
    return sub.commands.length === 0 ? [[path.join(' '), sub]] : [...leaves(sub, path)];
  });
  return new Map(found);
}
