import { Command } from 'commander';
import { exitCodes } from '../exit-codes.ts';
import { printJson, screenOn } from '../screen.ts';

interface Options {
  readonly list?: boolean;
  readonly json?: boolean;
}

const notes = `
Error messages end with the section that explains them, such as \`millrace help not-found\`. A section of another page is
\`millrace help retries#stop-retrying\`, or only \`stop-retrying\` if no other page has such a section.`;

export const helpCommand = (): Command =>
  new Command('help')
    .description('show help for a command, or a section of the documentation')
    .argument('[topic...]', 'command, section or page')
    .option('--list', 'list the pages and the sections that messages name; with a page, its sections')
    .option('--json', 'print JSON: the topic and its text as Markdown')
    .addHelpText('after', notes)
    .action(async (topic: string[], { list = false, json = false }: Options, own: Command) => {
      const { findTopic, topics, topicsOf } = await import('../../help/find-topic.ts');
      const { text, line } = screenOn(process.stdout);
      const name = topic.join(' ');
      if (list) {
        const listed = name === '' ? topics() : topicsOf(name);
        if (!listed) return rejectTopic(own, `page '${name}'`, topics());
        return listed.forEach((entry) => (json ? printJson({ topic: entry }) : line(entry)));
      }
      const command = commandOf(own.parent as Command, topic);
      if (command && json) return printJson({ topic: name, text: command.helpInformation() });
      if (command) return command.outputHelp();
      const found = findTopic(name);
      if ('text' in found)
        return json ? printJson({ topic: name, text: found.text }) : text(readable(found.text));
      const similar = topics().filter((entry) => entry.includes(name));
      rejectTopic(
        own,
        `command, section or page '${name}'`,
        found.candidates.length > 0 ? found.candidates : similar,
      );
    });

function rejectTopic(own: Command, missing: string, near: readonly string[]): never {
  const hint = near.length > 0 ? ` Did you mean ${near.slice(0, 5).join(', ')}?` : '';
  return own.error(`error: unknown ${missing}.${hint} See: millrace help --list`, {
    exitCode: exitCodes.usage,
    code: 'millrace.unknownTopic',
  });
}

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
