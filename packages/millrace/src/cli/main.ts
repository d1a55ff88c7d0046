import { drained } from './drain.ts';
import { explain } from './explain.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { program } from './program.ts';
import { screenOn } from './screen.ts';
import { waitsFor } from './waiting.ts';

/**
 * Runs one command line and gives the exit code, when stdout and stderr have taken what was said. Nothing but a fault of ours is shown
 * with a stack.
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
    await program().parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? exitCodes.ok);
  } catch (error) {
    return tell(error);
  } finally {
    waitsFor();
  }
}

function tell(error: unknown): ExitCode {
  const { exitCode, sentence } = explain(error);
  if (sentence !== undefined) {
    const { text, paint } = screenOn(process.stderr);
    text(`${paint.red('millrace:')} ${sentence}`);
  }
  return exitCode;
}

/** Whoever reads may stop reading (`millrace errors list | head`): nothing is left to say then. A disk that is full is an error. */
async function endWithoutReader(error: NodeJS.ErrnoException): Promise<void> {
  if (error.code === 'EPIPE') process.exit(exitCodes.ok);
  const exitCode = tell(error);
  await drained([process.stderr]);
  process.exit(exitCode);
}
