import { readFileSync } from 'node:fs';
import { CommandFailed, exitCodes } from './exit-codes.ts';

/** Variables whose value may come from a file. `<NAME>_FILE` names it, as container platforms and systemd provide secrets. */
export const secretsFromFiles = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'MILLRACE_MASTER_KEY',
  'MILLRACE_MASTER_KEY_PREVIOUS',
  'MILLRACE_METRICS_TOKEN',
  'MILLRACE_BOOTSTRAP_DEV_SECRET_KEY',
  'MILLRACE_BOOTSTRAP_STG_SECRET_KEY',
  'MILLRACE_BOOTSTRAP_PROD_SECRET_KEY',
  'MILLRACE_BOOTSTRAP_PREVIEW_SECRET_KEY',
  'MILLRACE_BOOTSTRAP_ACCESS_TOKEN',
  'MILLRACE_SECRET_KEY',
  'MILLRACE_ACCESS_TOKEN',
  'MILLRACE_MCP_TOKEN',
] as const;

/** Replaces each `<NAME>_FILE` by `<NAME>` with the text of the file, without blanks and line ends around it. */
export function readSecretFiles(env: NodeJS.ProcessEnv): void {
  for (const name of secretsFromFiles) {
    const variable = `${name}_FILE`;
    const file = env[variable]?.trim() ?? '';
    delete env[variable];
    if (file === '') continue;
    if ((env[name]?.trim() ?? '') !== '') {
      throw new CommandFailed(
        exitCodes.usage,
        `Both ${name} and ${variable} are set. Keep the one you mean.`,
      );
    }
    env[name] = textOf(file, variable);
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
