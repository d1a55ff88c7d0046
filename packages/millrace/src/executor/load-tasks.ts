import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withDefaults, type Task } from './declared.ts';
import type { ToExecutor } from './messages.ts';
import { failureOfCodec } from './project-codec.ts';
import { loadPublished } from './published-tasks.ts';
import type { Sdk } from './sdk.ts';

export interface LoadedTasks {
  readonly tasks: ReadonlyMap<string, Task>;
  /** Why a task file could not be imported. */
  readonly importErrors: ReadonlyMap<string, unknown>;
}

/** Imports the task files of a build. One that fails does not stop the others. */
export async function loadTasks(
  sdk: Sdk,
  { dir, entries, tasks: sources, defaults }: Extract<ToExecutor, { type: 'serve' }>,
): Promise<LoadedTasks> {
  const tasks = new Map<string, Task>();
  const importErrors = new Map<string, unknown>();
  const { codec } = defaults;
  const withoutCodec = codec === undefined ? undefined : await failureOfCodec(sdk, { dir, entries, codec });
  const published = await loadPublished(defaults.published);
  for (const { source, module } of entries) {
    try {
      if (withoutCodec) throw withoutCodec;
      const namespace: unknown = await import(pathToFileURL(join(dir, module)).href);
      for (const { task } of sdk.findTasks(namespace as Record<string, unknown>)) {
        if (sources[task.id] === source) tasks.set(task.id, withDefaults(task, defaults));
      }
      if (!published) continue;
      if (source === defaults.published?.configFile)
        published.configure(namespace as Readonly<Record<string, unknown>>);
      for (const registered of published.take().tasks) {
        const { id } = registered.task;
        // The import of another file may have registered it.
        if (Object.hasOwn(sources, id)) tasks.set(id, published.define(registered) as unknown as Task);
      }
    } catch (error) {
      importErrors.set(source, error);
    }
  }
  return { tasks, importErrors };
}
