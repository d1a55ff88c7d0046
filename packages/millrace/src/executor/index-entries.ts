import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { locate } from '../project/locate.ts';
import type { Problem } from '../project/problem.ts';
import { runOf } from './declared.ts';
import type { FromExecutor, IndexedTask, ToExecutor } from './messages.ts';
import { notExported, type Declared } from './not-exported.ts';
import type { Sdk } from './sdk.ts';

/** Imports the task files one after the other and says what tasks they declare; a file that throws does not stop the others. */
export async function indexEntries(
  sdk: Sdk,
  projectDir: string,
  { dir, entries, defaults }: Extract<ToExecutor, { type: 'index' }>,
  send: (message: FromExecutor) => void,
): Promise<void> {
  const tasks: IndexedTask[] = [];
  const problems: Problem[] = [];
  /** A task that a second file exports again is the same task, not a clash. */
  const seen = new Set<unknown>();
  const collected = sdk.collectDeclaredTasks();
  const declared: Declared[] = [];
  const exportedRuns = new Set<unknown>();
  for (const { source, module } of entries) {
    send({ type: 'importing', source });
    const before = collected.length;
    try {
      const namespace: unknown = await import(pathToFileURL(join(dir, module)).href);
      for (const { task, exportName } of sdk.findTasks(namespace as Record<string, unknown>)) {
        if (seen.has(task)) continue;
        seen.add(task);
        exportedRuns.add(runOf(task));
        const manifest = sdk.manifestOf(task, source, exportName);
        const { retry = defaults.retry, maxDuration = defaults.maxDuration } = manifest;
        tasks.push({ source, manifest: { ...manifest, retry, maxDuration } });
      }
      // A file that throws exports nothing: that is said already.
      for (const task of collected.slice(before)) declared.push({ task, source });
    } catch (error) {
      problems.push(locate(error, projectDir, source));
    }
  }
  problems.push(...notExported(declared, exportedRuns, projectDir));
  send({ type: 'indexed', tasks, problems });
}
