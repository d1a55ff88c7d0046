import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { commandMs, failureOfCommand } from '@millrace/platform';
import { CommandFailed, exitCodes } from './exit-codes.ts';

/**
 * Variables whose value may come from elsewhere: from the file named in `<NAME>_FILE`, as container platforms and systemd provide secrets, or
 * from the output of the shell command in `<NAME>_COMMAND`, such as one that calls a key management service.
 */
export const secretsFromFiles = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'MILLRACE_MASTER_KEY',
  'MILLRACE_MASTER_KEY_PREVIOUS',
  'MILLRACE_METRICS_TOKEN',
  'MILLRACE_OIDC_CLIENT_SECRET',
  'MILLRACE_BOOTSTRAP_DEV_SECRET_KEY',
  'MILLRACE_BOOTSTRAP_STG_SECRET_KEY',
  'MILLRACE_BOOTSTRAP_PROD_SECRET_KEY',
  'MILLRACE_BOOTSTRAP_PREVIEW_SECRET_KEY',
  'MILLRACE_BOOTSTRAP_ACCESS_TOKEN',
  'MILLRACE_SECRET_KEY',
  'MILLRACE_ACCESS_TOKEN',
  'MILLRACE_MCP_TOKEN',
] as const;

/** Replaces each `<NAME>_FILE` and `<NAME>_COMMAND` by `<NAME>` with its text, without surrounding whitespace. */
export function readSecrets(env: NodeJS.ProcessEnv): void {
  for (const name of secretsFromFiles) {
    const sources = [name, `${name}_FILE`, `${name}_COMMAND`].filter(
      (variable) => (env[variable]?.trim() ?? '') !== '',
    );
    const [first, second] = sources;
    if (second !== undefined)
      throw new CommandFailed(exitCodes.usage, `Both ${first} and ${second} are set. Use only one of them.`);
    const file = env[`${name}_FILE`]?.trim();
    const command = env[`${name}_COMMAND`];
    delete env[`${name}_FILE`];
    delete env[`${name}_COMMAND`];
    if (first === `${name}_FILE`) env[name] = textOf(file ?? '', first);
    else if (first === `${name}_COMMAND`) env[name] = printedBy(command ?? '', first);
  }
}

function textOf(file: string, variable: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CommandFailed(
      exitCodes.cannotStart,
      `The file of ${variable} cannot be read: ${(error as Error).message}. It must exist and be readable by this user.`,
    );
  }
  if (text !== '') return text;
  throw new CommandFailed(exitCodes.cannotStart, `The file of ${variable} is empty: ${file}`);
}

function printedBy(command: string, variable: string): string {
  const { stdout, stderr, status, signal, error } = spawnSync(command, {
    shell: true,
    encoding: 'utf8',
    timeout: commandMs,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = (stdout ?? '').trim();
  if (status === 0 && text !== '') return text;
  throw new CommandFailed(
    exitCodes.cannotStart,
    failureOfCommand(`The command of ${variable}`, {
      isLate: error !== undefined && 'code' in error && error.code === 'ETIMEDOUT',
      endedWith: signal ?? status ?? error?.message,
      stderr: stderr ?? '',
    }),
  );
}
