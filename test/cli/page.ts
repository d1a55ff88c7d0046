/** docs/cli.md, from the definitions of the commands. `npx vitest run test/cli/page.test.ts -u` writes it. */
import { Command, type Option } from 'commander';
import { withConnectionOptions } from '../../packages/millrace/src/cli/connection.ts';
import { examples } from '../../packages/millrace/src/cli/examples.ts';
import { withLoginOptions } from '../../packages/millrace/src/cli/login.ts';
import { withOrganizationOptions } from '../../packages/millrace/src/cli/organization.ts';
import { program } from '../../packages/millrace/src/cli/program.ts';
import { withProjectOptions } from '../../packages/millrace/src/cli/project.ts';
import { leaves } from './leaves.ts';

type Options = readonly Option[];

const optionsOf = (add: (command: Command) => Command): Options =>
  add(new Command()).options.filter(({ long }) => long !== '--json');

const connectionOptions = optionsOf(withConnectionOptions);
const accountOptions = [
  ...optionsOf(withLoginOptions),
  ...[withProjectOptions, withOrganizationOptions].flatMap((add) =>
    optionsOf(add).filter(({ long }) => long === '--project' || long === '--org'),
  ),
];

/** As text of a table, in which `<` and `|` would otherwise be markup. */
const text = (value: string): string =>
  value
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', String.raw`\<`)))
    .join('')
    .replaceAll('|', String.raw`\|`);

const isSame = (option: Option) => (other: Option) =>
  option.flags === other.flags && option.description === other.description;

function optionRow(option: Option): string {
  const { flags, description, argChoices, defaultValue, defaultValueDescription, envVar } = option;
  const isPlain = ['string', 'number'].includes(typeof defaultValue);
  const standard = defaultValueDescription ?? (isPlain ? `\`${String(defaultValue)}\`` : undefined);
  const notes = [
    ...(argChoices === undefined ? [] : [`one of ${argChoices.map((choice) => `\`${choice}\``).join(', ')}`]),
    ...(standard === undefined ? [] : [`default: ${text(standard)}`]),
    ...(envVar === undefined ? [] : [`variable: \`${envVar}\``]),
  ];
  return `| \`${flags.replaceAll('|', String.raw`\|`)}\` | ${[text(description), ...notes].join('; ')} |`;
}

const table = (rows: readonly string[]): string =>
  rows.length === 0 ? '' : `\n| Option | Description |\n|---|---|\n${rows.join('\n')}\n`;

/** Options that many commands share are described once. */
function sharedOptions(options: Options): readonly [shared: Options, link: string] {
  if (options.some(({ long }) => long === '--token'))
    return [accountOptions, '[account options](#account-options)'];
  if (options.some(({ long }) => long === '--key'))
    return [connectionOptions, '[connection options](#connection-options)'];
  return [[], ''];
}

const sentence = (value: string): string =>
  `${value.charAt(0).toUpperCase()}${value.slice(1).replace(/\.$/, '')}.`;

function section([words, command]: readonly [words: string, command: Command]): string {
  const [shared, link] = sharedOptions(command.options);
  const own = command.options.filter((option) => !shared.some(isSame(option)));
  const rows = [
    ...command.registeredArguments
      .filter(({ description }) => description !== '')
      .map((parameter) => `| \`${parameter.name()}\` | ${text(parameter.description)} |`),
    ...own.map(optionRow),
  ];
  const usage = ['millrace', words, ...command.registeredArguments.map(argument)].join(' ');
  const others = own.length === command.options.length ? '' : `\nAlso accepts the ${link}.\n`;
  const lines = examples[words];
  const example = lines === undefined ? '' : `\n\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n`;
  return `### millrace ${words}

${text(sentence(command.description()))}

Usage: \`${usage}\`
${example}${table(rows)}${others}`;
}

function argument(parameter: Command['registeredArguments'][number]): string {
  const name = `${parameter.name()}${parameter.variadic ? '...' : ''}`;
  return parameter.required ? `<${name}>` : `[${name}]`;
}

const areaOf = (command: Command): string => command.helpGroup()?.replace(/:$/, '') || 'Commands';

export async function cliPage(): Promise<string> {
  const root = await program();
  const areas = new Map<string, Command[]>();
  for (const command of root.commands) {
    const area = areaOf(command);
    areas.set(area, [...(areas.get(area) ?? []), command]);
  }
  const sections = [...areas].map(([area, commands]) => {
    const all = commands.flatMap((command): [string, Command][] =>
      command.commands.length === 0 ? [[command.name(), command]] : [...leaves(command, [command.name()])],
    );
    return `## ${area}\n\n${all.map(section).join('\n')}`;
  });
  return `${head}${sections.join('\n')}`;
}

const head = `# CLI reference

<!-- Generated from the definitions of the commands by test/cli/page.ts. To change this page, change a command. -->

The \`millrace\` command develops, deploys and operates projects. This page describes all of its commands and options.

\`npx millrace <command>\` runs a command without an installation. In a project that has \`millrace\` as a dependency, npx uses that version.
\`millrace <command> --help\` prints the options of a command. \`millrace help <topic>\` prints a section of
[troubleshooting](troubleshooting.md) or another page, and \`millrace help --list\` lists the topics.

## Connecting to a server

Commands read the address of the server and a secret key from the options \`--url\` and \`--key\`, or else from the variables \`MILLRACE_API_URL\` and
\`MILLRACE_SECRET_KEY\`. Without these, they use the [\`millrace dev\`](local-development.md) that runs in the folder or in a parent folder.

Commands for organizations, projects, keys and tokens use a personal access token instead of a key, from \`--token\` or \`MILLRACE_ACCESS_TOKEN\`.
Without it, they use the running \`millrace dev\`, and then the token stored by \`millrace login\`. A credential for one server is never sent to another.

### Connection options

Commands that use a secret key have these options. With \`--env prod\`, a command rejects the key of another environment, to prevent accidental
changes there.
${table(connectionOptions.map(optionRow))}
### Account options

Commands that act for a user have these options. \`--project\` and \`--org\` apply to commands for a project or an organization.
${table(accountOptions.map(optionRow))}
## Output

Every command accepts \`--json\`. With it, stdout contains only JSON, one value per line, and all human-readable text goes to stderr.

A command that waits prints the reason to stderr. \`trigger --wait\` and \`runs show --wait\` print why the run has not ended, and print it
again whenever the reason changes. With \`--json\`, these messages are JSON lines too. \`trigger\` prints the id first, and the run is always the
last line:

\`\`\`json
{"type":"triggered","id":"run_…","isCached":false,"dashboardUrl":"http://127.0.0.1:4400/p/proj_…/dev/runs/run_…"}
{"type":"waiting","id":"run_…","status":"PENDING_VERSION","reason":"no_version","message":"The current version … has no task \\"helo\\": … Did you mean \\"hello\\"?"}
\`\`\`

Ctrl-C ends the wait, not the run. The command prints how to continue watching, and exits with 130.

Text from tasks and other users is escaped so that it cannot control a terminal. Control characters are replaced with symbols (\`␛\` for escape,
\`⏎\` for the end of a line) or their number (\`\\u202e\`). Logs and stacks keep their line breaks and tabs. \`logs --raw\` and \`dev --raw\` print task
output unchanged. With \`--json\` the same characters are escaped, and programs read the original values.

## Exit codes

| Code | Meaning |
|---|---|
| 0 | done, or stopped on request |
| 1 | the operation failed: a run did not complete, an id is unknown, the database connection was lost |
| 2 | the command line or a setting is invalid |
| 3 | it could not start: project errors, port in use, data folder in use, database unreachable or too old, wrong master key, no tasks folder, invalid configuration, old Node, Bun or Deno |
| 4 | no server at the address, or the server rejected the key |
| 5 | \`millrace doctor\` found only warnings; with errors it is 1 |
| 130 | stopped immediately by a second Ctrl-C or another signal; stopped waiting for a run or a deployment after the first |

Messages that need further explanation end with a reference to a section of [troubleshooting](troubleshooting.md).

Ctrl-C, SIGTERM and SIGHUP stop gracefully. The runner finishes its runs or returns them to the queue, open requests are completed, and
PostgreSQL shuts down. A second signal, at least half a second later, stops immediately. No process remains after \`kill -9\`: executor processes
and the embedded PostgreSQL detect that their parent has ended, and exit.

`;
