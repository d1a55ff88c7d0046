import { importedFile, locate } from '../project/locate.ts';
import type { Problem } from '../project/problem.ts';
import type { Task } from './declared.ts';
import type { IndexedTask } from './messages.ts';
import { exportNameOf, type Published } from './published-tasks.ts';
import type { Sdk } from './sdk.ts';

/** A task file, and what it registered with the published SDK. */
export interface Imported extends ReturnType<Published['take']> {
  readonly source: string;
  readonly namespace: object;
}

/** The tasks of the published SDK that task files have registered, exported or not, and what of theirs does not work here. */
export function indexPublished(
  sdk: Sdk,
  published: Published,
  imported: readonly Imported[],
  projectDir: string,
): { readonly tasks: IndexedTask[]; readonly problems: Problem[] } {
  const tasks: IndexedTask[] = [];
  const problems: Problem[] = [];
  for (const file of imported) {
    for (const { sentence, at } of file.refused)
      problems.push({ ...locate(at, projectDir, file.source), message: sentence });
    for (const one of file.tasks) {
      const { id, payloadSchema } = one.task;
      const { source, exportName } = exporterOf(id, file, imported);
      try {
        const filePath = importedFile(one.at, projectDir, source);
        const manifest = sdk.manifestOf(published.define(one) as unknown as Task, filePath, exportName);
        // A JSON Schema that the task has beside its code.
        const schema = isObject(payloadSchema) ? { payloadSchema } : {};
        tasks.push({ source, manifest: { ...schema, ...manifest } });
      } catch (error) {
        const { message } = locate(error, projectDir, source);
        problems.push({ ...locate(one.at, projectDir, source), message });
      }
    }
  }
  return { tasks, problems };
}

/** The task file that exports a task. One that a file before it imports is registered by that file's import. */
function exporterOf(
  id: string,
  registering: Imported,
  imported: readonly Imported[],
): { readonly source: string; readonly exportName: string | undefined } {
  for (const { source, namespace } of [registering, ...imported]) {
    const exportName = exportNameOf(namespace, id);
    if (exportName !== undefined) return { source, exportName };
  }
  return { source: registering.source, exportName: undefined };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
