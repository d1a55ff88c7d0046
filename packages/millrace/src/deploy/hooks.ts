import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { ProjectError } from '@millrace/diagnostics';
import type { Project } from '../project/load.ts';

const run = promisify(exec);

/** Calls the pre-build hooks of a project in sequence. */
export async function runHooks(
  project: Project,
  onStep: (step: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const { name, beforeBuild } of project.build.extensions) {
    if (!beforeBuild) continue;
    onStep(`the extension ${name}`);
    try {
      await beforeBuild({
        projectDir: project.dir,
        run: async (command) => {
          await run(command, { cwd: project.dir, maxBuffer: 64 * 1024 * 1024, signal }).catch(explainCommand);
        },
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw new ProjectError({
        file: project.configFile ?? 'millrace.config.ts',
        line: null,
        column: null,
        message: `the extension ${name} failed: ${error instanceof Error ? error.message : String(error)}`,
      });
    }
  }
}

function explainCommand(error: Error & { code?: unknown; stdout?: string; stderr?: string }): never {
  const output = `${error.stdout ?? ''}\n${error.stderr ?? ''}`
    .split('\n')
    .filter((line) => line.trim() !== '');
  throw new Error([`exit code ${String(error.code ?? 'unknown')}`, ...output.slice(-8)].join('\n'));
}
