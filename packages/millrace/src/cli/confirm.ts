import { createInterface } from 'node:readline/promises';
import { CommandFailed, exitCodes } from './exit-codes.ts';

/** Asks a yes/no question. `instead` is the alternative if there is no terminal. */
export async function confirmed(question: string, instead: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new CommandFailed(
      exitCodes.usage,
      `Confirmation requires a terminal. Run the command on a terminal, or ${instead}.`,
    );
  const ask = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await ask.question(`${question} [y/N] `)).trim());
  } finally {
    ask.close();
  }
}
