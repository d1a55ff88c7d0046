import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withDefaults, type Task } from './declared.ts';
import type { ToExecutor } from './messages.ts';
import { useCodecOf } from './project-codec.ts';
import { loadPublished } from './published-tasks.ts';
import type { Sdk } from './sdk.ts';

export interface LoadedTasks {
  readonly tasks: ReadonlyMap<string, Task>;
  /** The errors of task files that could not be imported. */
  readonly importErrors: ReadonlyMap<string, unknown>;
}

/**
 * Imports the task files of a build. A file that fails does not stop the others, unless it is a preload, because no task of the version may
 * run without its hooks or codec.
 */
export async function loadTasks(
  sdk: Sdk,
  { dir, entries, tasks: served, defaults }: Extract<ToExecutor, { type: 'serve' }>,
): Promise<LoadedTasks> {
  const tasks = new Map<string, Task>();
  const importErrors = new Map<string, unknown>();
  const { codec, preloads = [] } = defaults;
  const published = await loadPublished(defaults.published);
  const failWhole = (error: unknown): LoadedTasks => ({
    tasks: new Map(),
    importErrors: new Map(Object.values(served).map(({ source }) => [source, error])),
  });
  const missing = preloads.find((preload) => !entries.some(({ source }) => source === preload));
  if (missing !== undefined)
    return failWhole(new Error(`${missing} does not compile, and every process of the project imports it.`));
  for (const { source, module } of entries) {
    try {
      const namespace: unknown = await import(pathToFileURL(join(dir, module)).href);
      if (source === codec) useCodecOf(sdk, namespace as object);
      for (const { task } of sdk.findTasks(namespace as Record<string, unknown>)) {
        if (served[task.id]?.source === source) tasks.set(task.id, withDefaults(task, defaults));
      }
      if (!published) continue;
      if (source === defaults.published?.configFile)
        published.configure(namespace as Readonly<Record<string, unknown>>);
      for (const registered of published.take().tasks) {
        const { id } = registered.task;
        // The import of another file may have registered it.
        if (Object.hasOwn(served, id)) tasks.set(id, published.define(registered) as unknown as Task);
      }
    } catch (error) {
      if (preloads.includes(source)) return failWhole(error);
      importErrors.set(source, error);
    }
  }
  return { tasks, importErrors };
}
