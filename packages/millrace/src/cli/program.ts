import { version } from '@millrace/platform';
import { Command, Help, type Option } from 'commander';
import { commands } from './commands/index.ts';
import { examples } from './examples.ts';
import { exitCodes } from './exit-codes.ts';
import { screenOn } from './screen.ts';

const notes = `
To get started, run \`millrace init hello --dev\`.
\`millrace <command> --help\` shows the options of a command.
\`millrace help --list\` lists the pages and sections of the documentation.
Exit codes: 0 success, 1 failure, 2 invalid command line, 3 could not start,
4 server unreachable or key rejected, 5 warnings only (\`doctor\`).`;

/**
 * The command `typed`, or all commands if there is none with that name. A command imports its implementation when it runs, so that --help
 * is fast.
 */
export async function program(typed?: string): Promise<Command> {
  const root = new Command('millrace')
    // For commands with subcommands. The root's own help command also prints documentation.
    .helpCommand('help [command]', 'show help for a command')
    .helpCommand(false)
    .description('Run background tasks written in TypeScript, backed by PostgreSQL.')
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .configureHelp({ subcommandTerm, optionDescription })
    .showSuggestionAfterError()
    .showHelpAfterError('(use --help for usage)')
    .addHelpText('after', notes)
    // Error messages quote the command line, so they are escaped too.
    .configureOutput({
      writeOut: (text) => screenOn(process.stdout).text(text.replace(/\n$/, '')),
      writeErr: (text) => screenOn(process.stderr).text(text.replace(/\n$/, '')),
      outputError: (text, write) => write(onlyNear(text)),
    });
  for (const command of await Promise.all(neededFor(typed).map((load) => load()))) root.addCommand(command);
  inherit(root);
  addExamples(root);
  root.hook('preAction', (_, command) => refuseEmpty(command));
  return root;
}

const builtIn = new Help();

/** The command and its arguments. */
const subcommandTerm = (command: Command): string =>
  builtIn.subcommandTerm(command).replace(' [options]', '');

/** Omits the empty list, the default of repeatable options. */
const optionDescription = (option: Option): string =>
  builtIn.optionDescription(option).replace(' (default: [])', '');

/** Commands that describe all others. */
const describing = new Set(['help', 'completion']);

function neededFor(typed: string | undefined): (() => Promise<Command>)[] {
  if (typed === '--version' || typed === '-v') return [];
  const load = typed === undefined || describing.has(typed) ? undefined : commands.get(typed);
  return load ? [load] : [...commands.values()];
}

/** Removes commander's suggestions with a different first letter, because it considers `logs` similar to `bogus`. */
function onlyNear(text: string): string {
  const typed = /^error: unknown (?:command|option) '(--?)?([^'])/.exec(text);
  if (!typed) return text;
  const [, dashes = '', letter = ''] = typed;
  return text.replace(/\n\(Did you mean (?:one of )?(.*)\?\)/, (_, suggested: string) => {
    const near = suggested.split(', ').filter((name) => name.startsWith(dashes + letter));
    if (near.length === 0) return '';
    return `\n(Did you mean ${near.length > 1 ? 'one of ' : ''}${near.join(', ')}?)`;
  });
}

/** Makes errors of all subcommands return to `main` instead of ending the process. */
function inherit(parent: Command): void {
  parent.exitOverride();
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    inherit(command);
  }
}

function addExamples(parent: Command, prefix = ''): void {
  for (const command of parent.commands) {
    const words = `${prefix}${command.name()}`;
    const lines = examples[words];
    if (lines) command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
    addExamples(command, `${words} `);
  }
}

/** Rejects empty arguments, as in `millrace trigger "$UNSET"`. */
function refuseEmpty(command: Command): void {
  const at = command.args.findIndex((argument) => argument.trim() === '');
  if (at === -1) return;
  const name =
    command.registeredArguments[Math.min(at, command.registeredArguments.length - 1)]?.name() ?? '';
  command.error(`error: argument '${name}' is empty: a shell variable may be unset`, {
    exitCode: exitCodes.usage,
    code: 'millrace.emptyArgument',
  });
}
