import { exec } from 'node:child_process';
import { parse } from 'dotenv';
import { checkVariables } from './check.ts';
import { VariablesUnread } from './errors.ts';

/** Milliseconds that a command may take. */
const timeoutMs = 30_000;
const maxOutput = 16 * 1024 * 1024;

/** What a shell command prints: a JSON object, or lines as in a dotenv file. What it prints is never shown; only its stderr is. */
export async function runCommand(command: string): Promise<Record<string, string>> {
  const from = 'The command of --variables-command';
  const printed = await new Promise<string>((resolve, reject) => {
    const child = exec(command, { timeout: timeoutMs, maxBuffer: maxOutput }, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const complaint = stderr.trim().split('\n').at(-1) ?? '';
      const why = error.killed
        ? `took longer than ${timeoutMs / 1_000} s`
        : `ended with ${error.signal ?? error.code}`;
      return reject(new VariablesUnread(`${from} ${why}${complaint === '' ? '' : `: ${complaint}`}`));
    });
    child.stdin?.end();
  });
  if (!printed.trimStart().startsWith('{')) return checkVariables(from, parse(printed));
  let value: unknown;
  try {
    value = JSON.parse(printed);
  } catch {
    // The message of the parser has pieces of the text.
    throw new VariablesUnread(`${from} printed JSON that cannot be parsed.`);
  }
  return checkVariables(from, value);
}
