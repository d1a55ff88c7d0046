import { drained } from './drain.ts';
import { explain } from './explain.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { program } from './program.ts';
import { screenOn } from './screen.ts';
import { readSecrets } from './secret-files.ts';
import { withExplanation } from './with-explanation.ts';
import { waitsFor } from './waiting.ts';

/**
 * Runs one command line. Returns the exit code once all output has been written. Only internal errors are shown with a stack.
 */
export async function main(args: readonly string[]): Promise<number> {
  process.stdout.on('error', (error) => void endWithoutReader(error));
  process.stderr.on('error', () => {});
  const exitCode = await run(args);
  await drained();
  return exitCode;
}

async function run(args: readonly string[]): Promise<number> {
  try {
    readSecrets(process.env);
    const root = await program(args[0]);
    await root.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? exitCodes.ok);
  } catch (error) {
    return reportError(error);
  } finally {
    waitsFor();
  }
}

function reportError(error: unknown): ExitCode {
  const { exitCode, sentence, help } = explain(error);
  if (sentence !== undefined) {
    const { text, paint } = screenOn(process.stderr);
    text(`${paint.red('millrace:')} ${withExplanation(sentence, help)}`);
  }
  return exitCode;
}

/** Handles errors of stdout. A closed pipe (`millrace errors list | head`) ends the command; a full disk is an error. */
async function endWithoutReader(error: NodeJS.ErrnoException): Promise<void> {
  if (error.code === 'EPIPE') process.exit(exitCodes.ok);
  const exitCode = reportError(error);
  await drained([process.stderr]);
  process.exit(exitCode);
}
