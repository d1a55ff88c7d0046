import { ProjectError } from '@millrace/diagnostics';
import type * as Esbuild from 'esbuild';

let building = 0;

/**
 * Loads esbuild for one build and stops its service process afterwards, which would otherwise keep 20 MB of memory. Throws a ProjectError
 * with the command to run if esbuild's binary is not installed.
 */
export async function withEsbuild<T>(work: (esbuild: typeof Esbuild) => Promise<T>): Promise<T> {
  const esbuild = await import('esbuild');
  building += 1;
  try {
    return await work(esbuild);
  } catch (error) {
    throw missingProgram(error, esbuild.version) ?? error;
  } finally {
    building -= 1;
    if (building === 0) await esbuild.stop();
  }
}

/** esbuild's binaries are optional packages, one per platform, which `npm install --omit=optional` does not install. */
function missingProgram(error: unknown, version: string): ProjectError | undefined {
  const [, name] =
    /^The package "(@esbuild\/[\w-]+)" could not be found/.exec((error as Error).message) ?? [];
  if (name === undefined) return undefined;
  return new ProjectError({
    file: 'package.json',
    line: null,
    column: null,
    message: `task files are compiled by ${name}, which is not installed: run \`npm install --save-exact ${name}@${version}\``,
  });
}
