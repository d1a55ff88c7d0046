import { explain } from './explain.ts';
import { exitCodes } from './exit-codes.ts';
import { program } from './program.ts';
import { screenOn } from './screen.ts';
import { waitsFor } from './waiting.ts';

/** Runs one command line and gives the exit code. Nothing but a fault of ours is shown with a stack. */
export async function main(args: readonly string[]): Promise<number> {
  // Whoever reads may stop reading (`millrace errors list | head`): nothing is left to say then.
  process.stdout.on('error', () => process.exit(exitCodes.ok));
  process.stderr.on('error', () => {});
  try {
    await program().parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? exitCodes.ok);
  } catch (error) {
    const { exitCode, sentence } = explain(error);
    if (sentence !== undefined) {
      const { text, paint } = screenOn(process.stderr);
      text(`${paint.red('millrace:')} ${sentence}`);
    }
    return exitCode;
  } finally {
    waitsFor();
  }
}
