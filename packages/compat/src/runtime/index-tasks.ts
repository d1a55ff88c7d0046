import type { TaskManifest } from '@millrace/contract/runner';
import { importedFile, locate, type Problem } from '@millrace/diagnostics';
import type * as Executor from '@millrace/sdk/executor';
import type { Refused, Registered } from './catalog.ts';
import type { definedTask } from './define.ts';

/** A task file and its registrations with the published SDK. */
export interface Imported {
  readonly tasks: readonly Registered[];
  readonly refused: readonly Refused[];
  readonly source: string;
  readonly namespace: object;
}

interface IndexedTask {
  readonly source: string;
  readonly manifest: TaskManifest;
}

type Sdk = typeof Executor;
type Task = Parameters<Sdk['manifestOf']>[0];

/** The tasks of the published SDK that task files have registered, exported or not, and their unsupported declarations. */
export function indexPublished(
  sdk: Sdk,
  define: (registered: Registered) => ReturnType<typeof definedTask>,
  imported: readonly Imported[],
  projectDir: string,
  /** Declarations without a task that are not supported. */
  refused: readonly Refused[],
): { readonly tasks: IndexedTask[]; readonly problems: Problem[] } {
  const tasks: IndexedTask[] = [];
  const problems: Problem[] = refused.map(({ sentence, at }) => ({
    ...locate(at, projectDir, imported[0]?.source ?? ''),
    message: sentence,
  }));
  for (const file of imported) {
    for (const { sentence, at } of file.refused)
      problems.push({ ...locate(at, projectDir, file.source), message: sentence });
    for (const task of file.tasks) {
      const { id, payloadSchema } = task.task;
      const { source, exportName } = exporterOf(id, file, imported);
      try {
        const filePath = importedFile(task.at, projectDir, source);
        const manifest = sdk.manifestOf(define(task) as unknown as Task, filePath, exportName);
        // A JSON Schema that the task declares separately.
        const schema = isObject(payloadSchema) ? { payloadSchema } : {};
        tasks.push({ source, manifest: { ...schema, ...manifest } });
      } catch (error) {
        const { message } = locate(error, projectDir, source);
        problems.push({ ...locate(task.at, projectDir, source), message });
      }
    }
  }
  return { tasks, problems };
}

/** The task file that exports a task. If an earlier file imports it, the task is registered by that file's import. */
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

const brand = Symbol.for('trigger.dev/task');

/** The name under which a module exports a task of the published SDK. */
function exportNameOf(namespace: object, id: string): string | undefined {
  for (const [name, value] of Object.entries(namespace)) {
    if (typeof value !== 'object' || value === null || !(brand in value)) continue;
    if ((value as { id?: unknown }).id === id) return name;
  }
  return undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
