import { exec } from 'node:child_process';
import { commandMs, failureOfCommand } from '@millrace/platform';
import { parse } from 'dotenv';
import { checkVariables } from './check.ts';
import { VariablesUnread } from './errors.ts';

const maxOutput = 16 * 1024 * 1024;

/** The variables printed by a shell command: a JSON object, or lines as in a dotenv file. Its stdout is never shown, only its stderr. */
export async function runCommand(command: string): Promise<Record<string, string>> {
  const from = 'The command of --variables-command';
  const printed = await new Promise<string>((resolve, reject) => {
    const options = { timeout: commandMs, maxBuffer: maxOutput };
    const child = exec(command, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const ended = { isLate: error.killed === true, endedWith: error.signal ?? error.code, stderr };
      return reject(new VariablesUnread(failureOfCommand(from, ended)));
    });
    child.stdin?.end();
  });
  if (!printed.trimStart().startsWith('{')) return checkVariables(from, parse(printed));
  let value: unknown;
  try {
    value = JSON.parse(printed);
  } catch {
    // The parser's message contains parts of the text.
    throw new VariablesUnread(`${from} printed JSON that cannot be parsed.`);
  }
  return checkVariables(from, value);
}
