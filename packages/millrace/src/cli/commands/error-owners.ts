import type { ErrorGroupDetail } from '@millrace/sdk';
import { Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { printJson } from '../screen.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

type Client = Awaited<ReturnType<typeof openClient>>;
type Show = (group: ErrorGroupDetail) => void;

interface ChangeWords {
  readonly name: string;
  readonly description: string;
  readonly value: readonly [name: string, description: string];
  readonly clear: readonly [option: string, description: string];
}

/** A command that sets one value of an error group or, with its option, removes the value. */
const changeCommand = (
  { name, description, value, clear }: ChangeWords,
  change: (client: Client, error: string, value: string | null) => Promise<ErrorGroupDetail>,
  show: Show,
): Command =>
  withConnectionOptions(
    new Command(name)
      .description(description)
      .argument('<error>', 'error group ID (error_…)')
      .argument(...value)
      .option(...clear)
      .option('--json', 'print JSON'),
  ).action(
    async (error: string, text: string | undefined, options: JsonOption & { clear?: boolean }, command) => {
      if ((text === undefined) !== (options.clear === true))
        (command as Command).error(`error: pass either ${value[0].replaceAll(/[[\]]/g, '')} or --clear`);
      const changed = await change(await openClient(options), error, text ?? null);
      if (options.json) printJson(changed);
      else show(changed);
    },
  );

/** `errors assign`, `errors note` and `errors link`. */
export const ownerCommands = (show: Show): Command[] => [
  changeCommand(
    {
      name: 'assign',
      description: 'assign an error group to a member or an owner',
      value: ['[assignee]', 'email address or ID of a member, or an owner such as @payments'],
      clear: ['--clear', 'return it to the owner of its task'],
    },
    ({ errors }, error, assignee) => errors.assign(error, assignee),
    show,
  ),
  changeCommand(
    {
      name: 'note',
      description: 'set the note of an error group',
      value: ['[text]', 'note for other members, at most 2,000 characters'],
      clear: ['--clear', 'remove the note'],
    },
    ({ errors }, error, text) => errors.note(error, text),
    show,
  ),
  changeCommand(
    {
      name: 'link',
      description: 'link an error group to a ticket',
      value: ['[address]', 'http or https address of the ticket'],
      clear: ['--clear', 'remove the link'],
    },
    ({ errors }, error, address) => errors.link(error, address),
    show,
  ),
];
