import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { FolderRefused, version } from '@millrace/platform';
import { changeFolder, firstTrigger, newProject, packageManagerOf } from '@millrace/template';
import { writeFiles } from './write-files.ts';

const usage = `Usage: npm create millrace [folder] [-- options]

Create a Millrace project in a new or empty folder. Default: the current folder.

Options:
  --json         print JSON: the folder, its files, the package manager and the next commands
  -v, --version  print the version
  -h, --help     show help

In an existing project, run \`npx millrace init\` instead.
Exit codes: 0 success, 1 failure, 2 invalid command line.
`;

/**
 * Runs one command line and returns its exit code.
 *
 * @param userAgent `npm_config_user_agent`, which names the package manager
 */
export async function main(args: readonly string[], userAgent: string | undefined): Promise<number> {
  const line = parsed(args);
  if (typeof line === 'string') return failed(2, `${line} (use --help for usage)`);
  if (line.help) return print(usage);
  if (line.version) return print(`${version}\n`);
  try {
    return await create(line.dir, line.json, userAgent);
  } catch (error) {
    if (error instanceof FolderRefused) return failed(1, error.message);
    throw error;
  }
}

async function create(dir: string, json: boolean, userAgent: string | undefined): Promise<number> {
  const folder = resolve(dir);
  const manager = packageManagerOf(userAgent);
  const files = newProject(basename(folder), version, manager);
  await writeFiles(folder, files);
  const written = Object.keys(files);
  const next = [...changeFolder(dir), manager.install, `${manager.run} dev`];
  const trigger = firstTrigger(manager.exec);
  if (json)
    return print(`${JSON.stringify({ folder, written, packageManager: manager.name, next, trigger })}\n`);
  const commands = next.map((command) => `  ${command}\n`).join('');
  return print(
    `${written.map((file) => `wrote ${file}\n`).join('')}\nNext:\n${commands}Then, in a second terminal: ${trigger}\n`,
  );
}

/** The values of the command line, or an error message. */
function parsed(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        version: { type: 'boolean', short: 'v', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const [dir = '.', ...others] = positionals;
    if (others.length > 0) return `Too many arguments: pass one folder, not ${positionals.length}.`;
    if (dir.trim() === '') return 'The name of the folder is empty: a shell variable may be unset.';
    return { ...values, dir };
  } catch (error) {
    // Its further sentences explain how to pass a folder whose name begins with a dash.
    return (error as Error).message.replace(/\. .*/s, '.');
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

function failed(exitCode: number, sentence: string): number {
  process.stderr.write(`create-millrace: ${sentence}\n`);
  return exitCode;
}
