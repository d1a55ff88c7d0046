import { existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type * as Sdk from '@millrace/sdk';
import { Command } from 'commander';
import { parse } from 'dotenv';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { dotenvFile } from '../dotenv-file.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { positiveInteger, wholeNumber } from '../options.ts';
import { printJson, screenOn, table } from '../screen.ts';
import { waitsFor } from '../waiting.ts';
import { refuseWhereGitTakesIt } from './env-pull-git.ts';

interface EnvOptions extends ConnectionOptions {
  readonly project?: string;
  readonly json?: boolean;
}

const withEnvOptions = (command: Command): Command =>
  withConnectionOptions(command)
    .option('--project <ref>', 'project ref (proj_…); set it and --env if --key is a personal access token')
    .option('--json', 'print JSON');

type Envvars = typeof Sdk.envvars;

/** The `envvars` calls for the environment in the options. */
async function openEnvironment(
  options: EnvOptions,
): Promise<{ envvars: Envvars; at: [] | [string, string] }> {
  const { project, env, key = '' } = options;
  const isPersonal = /^(?:svc|tr)_pat_/.test(key);
  // An environment's key is compared with --env.
  const { envvars } = await openClient(isPersonal ? { ...options, env: undefined } : options);
  if (project !== undefined && env !== undefined) return { envvars, at: [project, env] };
  if (isPersonal) {
    throw new CommandFailed(
      exitCodes.usage,
      'A personal access token is for many environments. Specify one, as in --project proj_… --env prod.',
    );
  }
  if (project === undefined) return { envvars, at: [] };
  throw new CommandFailed(exitCodes.usage, '--project requires --env, the environment of that project.');
}

// The overloads of the SDK accept the project and the environment, or neither; a spread is equivalent, which TypeScript cannot infer.
type At = [string, string];

const listCommand = (): Command =>
  withEnvOptions(new Command('list').description('list variables; secret values are hidden')).action(
    async (options: EnvOptions) => {
      const { envvars, at } = await openEnvironment(options);
      const variables = await envvars.list(...(at as At));
      if (options.json) return variables.forEach(printJson);
      const { line, paint } = screenOn(process.stdout);
      if (variables.length === 0) return line('No variables.');
      const isBranch = variables.some(({ isInherited }) => isInherited !== undefined);
      const [head = '', ...rows] = table([
        ['name', 'value', ...(isBranch ? ['from'] : [])],
        ...variables.map(({ name, value, isInherited }) => [
          name,
          value,
          ...(isBranch ? [isInherited ? 'parent' : 'branch'] : []),
        ]),
      ]);
      line(paint.dim(head));
      for (const row of rows) line(row);
    },
  );

interface SetOptions extends EnvOptions {
  readonly secret?: boolean;
}

const setCommand = (): Command =>
  withEnvOptions(
    new Command('set')
      .description('set variables for new runs')
      .argument('<assignments...>', 'NAME=value, or NAME to read the value from stdin')
      .option('--secret', 'never show the value again, and redact it in logs, outputs and errors')
      .option('--no-secret', 'show the value'),
  ).action(async (assignments: string[], { secret, ...options }: SetOptions) => {
    const settings = await readAssignments(assignments);
    const { envvars, at } = await openEnvironment(options);
    for (const { name, value } of settings) {
      await envvars.create(...(at as At), { name, value, ...(secret !== undefined && { isSecret: secret }) });
      say(options, { set: name }, `Set ${name}.`);
    }
  });

async function readAssignments(assignments: readonly string[]) {
  const fromInput = assignments.filter((assignment) => !assignment.includes('='));
  if (fromInput.length > 1) {
    throw new CommandFailed(exitCodes.usage, 'Only one variable can be read from stdin.');
  }
  // A line end added by a file or an editor is not part of a value.
  if (fromInput.length === 1) waitsFor(`the value of ${fromInput[0]} on stdin (end it with Ctrl-D)`);
  const input = fromInput.length === 1 ? (await text(process.stdin)).replace(/\r?\n$/, '') : '';
  return assignments.map((assignment) => {
    const at = assignment.indexOf('=');
    return at === -1
      ? { name: assignment, value: input }
      : { name: assignment.slice(0, at), value: assignment.slice(at + 1) };
  });
}

const say = ({ json }: EnvOptions, value: object, sentence: string): void =>
  json ? printJson(value) : screenOn(process.stdout).line(sentence);

const unsetCommand = (): Command =>
  withEnvOptions(
    new Command('unset')
      .description('delete variables, or let a branch inherit them again')
      .argument('<names...>', 'names of the variables'),
  ).action(async (names: string[], options: EnvOptions) => {
    const { envvars, at } = await openEnvironment(options);
    for (const name of names) {
      await envvars.del(...(at as At), name);
      say(options, { unset: name }, `Deleted ${name}.`);
    }
  });

const pullCommand = (): Command =>
  withEnvOptions(
    new Command('pull')
      .description('write all variables and secrets to a dotenv file')
      .argument('[file]', 'dotenv file to write, readable only by you', '.env')
      .option('--force', 'overwrite an existing file, and allow a file that git does not ignore'),
  ).action(async (file: string, { force = false, ...options }: EnvOptions & { force?: boolean }) => {
    const folder = dirname(resolve(file));
    if (!existsSync(folder)) {
      throw new CommandFailed(
        exitCodes.failed,
        `The folder ${folder} for ${basename(file)} does not exist. Create it first.`,
      );
    }
    await refuseWhereGitTakesIt(file, force);
    const { envvars, at } = await openEnvironment(options);
    // Only the key determines the environment of the values: if another environment is named, the server rejects the call.
    if (at.length > 0) await envvars.list(...(at as At));
    const variables = await envvars.readAll();
    const { text: content, missing } = dotenvFile(variables);
    await writePrivately(file, content, force);
    const count = Object.keys(variables).length - missing.length;
    say(options, { file, count, missing }, `Wrote ${count} variables to ${file}.`);
    if (missing.length > 0) {
      throw new CommandFailed(
        exitCodes.failed,
        `A dotenv file cannot contain these values: ${missing.join(', ')}.`,
      );
    }
  });

async function writePrivately(file: string, content: string, replaces: boolean): Promise<void> {
  const handle = await open(file, replaces ? 'w' : 'wx', 0o600).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new CommandFailed(
      exitCodes.failed,
      `${file} already exists. Choose another name, or pass --force.`,
    );
  });
  try {
    // Writing to an existing file does not change its mode.
    await handle.chmod(0o600);
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
}

interface ImportOptions extends SetOptions {
  readonly override?: boolean;
}

async function importFile(
  file: string,
  { override = false, secret, ...options }: ImportOptions,
): Promise<void> {
  const variables = parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, ''));
  const { envvars, at } = await openEnvironment(options);
  try {
    const flag = secret === undefined ? {} : { isSecret: secret };
    await envvars.upload(...(at as At), { variables, override, ...flag });
  } catch (error) {
    throw explained(error);
  }
  // The server silently skips reserved names.
  const there = new Set((await envvars.list(...(at as At))).map(({ name }) => name));
  const leftOut = Object.keys(variables).filter((name) => !there.has(name));
  const count = Object.keys(variables).length - leftOut.length;
  const but = leftOut.length === 0 ? '' : ` Skipped reserved names: ${leftOut.join(', ')}.`;
  say(options, { file, count, leftOut }, `Set ${count} variables from ${file}.${but}`);
}

/** The server returns a reason for each variable. */
function explained(error: unknown): unknown {
  const body = (error as { body?: { error?: unknown; variableErrors?: unknown } } | undefined)?.body;
  if (!Array.isArray(body?.variableErrors)) return error;
  const errors = body.variableErrors as readonly { key: string; error: string }[];
  const lines = errors.map((entry) => `  ${entry.key}: ${entry.error}`);
  return new CommandFailed(exitCodes.failed, [String(body.error), ...lines].join('\n'));
}

const pushCommand = (): Command =>
  withEnvOptions(
    new Command('push')
      .description('set variables from a dotenv file')
      .argument('[file]', 'dotenv file to read', '.env')
      .option('--secret', 'mark all variables as secret')
      .option('--no-secret', 'mark no variables as secret'),
  ).action((file: string, options: ImportOptions) => importFile(file, { ...options, override: true }));

const importCommand = (): Command =>
  withEnvOptions(
    new Command('import')
      .description('set variables from a dotenv file if none of them exists')
      .argument('<file>', 'dotenv file to read')
      .option('--override', 'overwrite existing variables')
      .option('--secret', 'mark all variables as secret')
      .option('--no-secret', 'mark no variables as secret'),
  ).action(importFile);

const historyCommand = (): Command =>
  withEnvOptions(
    new Command('history')
      .description('list changes of variables, newest first')
      .option('--limit <count>', 'maximum number of results', positiveInteger, 25),
  ).action(async ({ limit, ...options }: EnvOptions & { limit: number }) => {
    const { envvars, at } = await openEnvironment(options);
    const revisions: Sdk.VariableRevision[] = [];
    for await (const revision of envvars.history(...(at as At))) {
      revisions.push(revision);
      if (revisions.length === limit) break;
    }
    if (options.json) return revisions.forEach(printJson);
    const { line, paint } = screenOn(process.stdout);
    if (revisions.length === 0) return line('No changes.');
    const rows = revisions.map((entry) => [
      String(entry.revision),
      entry.at.toISOString(),
      entry.restored === undefined ? entry.act : `${entry.act} to ${entry.restored}`,
      entry.userId ?? entry.credentialId,
      changesInWords(entry.changes),
    ]);
    const [head = '', ...body] = table([['revision', 'when', 'what', 'who', 'variables'], ...rows]);
    line(paint.dim(head));
    for (const row of body) line(row);
  });

const signs = { added: '+', changed: '~', removed: '-' } as const;

const changesInWords = (changes: readonly { name: string; change: keyof typeof signs }[]): string => {
  const visible = changes.slice(0, 8).map(({ name, change }) => `${signs[change]}${name}`);
  return [...visible, ...(changes.length > 8 ? [`and ${changes.length - 8} more`] : [])].join(' ');
};

const diffCommand = (): Command =>
  withEnvOptions(
    new Command('diff')
      .description('compare the variables of two revisions')
      .argument('<from>', 'revision; 0 is before the first change', wholeNumber)
      .argument('[to]', 'revision (default: the latest)', wholeNumber),
  ).action(async (from: number, to: number | undefined, options: EnvOptions) => {
    const { envvars, at } = await openEnvironment(options);
    const compared = await envvars.diff(...(at as At), { from, ...(to !== undefined && { to }) });
    if (options.json) return printJson(compared);
    const { line, paint } = screenOn(process.stdout);
    if (compared.changes.length === 0) return line('No differences.');
    for (const change of compared.changes) {
      if (change.from !== undefined) line(paint.red(`- ${change.name}=${change.from}`));
      if (change.to !== undefined) line(paint.green(`+ ${change.name}=${change.to}`));
    }
  });

const rollbackCommand = (): Command =>
  withEnvOptions(
    new Command('rollback')
      .description('restore the variables of a revision, as a new revision')
      .argument(
        '<revision>',
        'revision from `millrace env history`; 0 is before the first change',
        wholeNumber,
      ),
  ).action(async (revision: number, options: EnvOptions) => {
    const { envvars, at } = await openEnvironment(options);
    const done = await envvars.rollback(...(at as At), { revision });
    const what = done.changes.length === 0 ? 'no differences' : changesInWords(done.changes);
    say(options, done, `Restored revision ${revision} as revision ${done.revision}: ${what}.`);
  });

export const envCommand = (): Command =>
  new Command('env')
    .description('manage the environment variables of runs')
    .addCommand(listCommand())
    .addCommand(setCommand())
    .addCommand(unsetCommand())
    .addCommand(pullCommand())
    .addCommand(pushCommand())
    .addCommand(importCommand())
    .addCommand(historyCommand())
    .addCommand(diffCommand())
    .addCommand(rollbackCommand());
