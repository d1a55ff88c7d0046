import { Command } from 'commander';
import { exitCodes } from '../exit-codes.ts';
import { printJson, screenOn } from '../screen.ts';

interface Options {
  readonly list?: boolean;
  readonly json?: boolean;
}

const notes = `
Error messages end with the section that explains them, such as \`millrace help not-found\`.`;

export const helpCommand = (): Command =>
  new Command('help')
    .description('show help for a command, or a section of the documentation')
    .argument('[topic...]', 'command, section or page')
    .option('--list', 'list all sections and pages')
    .option('--json', 'print JSON: the topic and its text as Markdown')
    .addHelpText('after', notes)
    .action(async (topic: string[], { list = false, json = false }: Options, own: Command) => {
      const { findTopic, topics } = await import('../../help/find-topic.ts');
      const { text, line } = screenOn(process.stdout);
      if (list) return topics().forEach((entry) => (json ? printJson({ topic: entry }) : line(entry)));
      const root = own.parent as Command;
      const command = commandOf(root, topic);
      if (command) return command.outputHelp();
      const name = topic.join(' ').replace(/^#/, '');
      const found = findTopic(name);
      if (found !== undefined) return json ? printJson({ topic: name, text: found }) : text(readable(found));
      const near = topics().filter((entry) => entry.includes(name));
      const hint = near.length > 0 ? ` Did you mean ${near.slice(0, 5).join(', ')}?` : '';
      own.error(`error: unknown command, section or page '${name}'.${hint} See: millrace help --list`, {
        exitCode: exitCodes.usage,
        code: 'millrace.unknownTopic',
      });
    });

/** The command for some words, such as `runs list`; undefined if there is none. */
const commandOf = (root: Command, words: readonly string[]): Command | undefined =>
  words.reduce<Command | undefined>(
    (parent, word) =>
      parent?.commands.find((child) => child.name() === word || child.aliases().includes(word)),
    root,
  );

/** Markdown formatted for a terminal: without code marks, and links as their text only. */
const readable = (markdown: string): string =>
  markdown
    .replaceAll(/^```.*\n([\s\S]*?)^```$/gm, (_, code: string) =>
      code.trimEnd().replaceAll(/^(?=.)/gm, '    '),
    )
    .replaceAll(/<!--[\s\S]*?-->\n*/g, '')
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .trimEnd();
