import { locate } from '../project/locate.ts';
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
  for (const { source, namespace, tasks: registered, refused } of imported) {
    for (const { sentence, at } of refused)
      problems.push({ ...locate(at, projectDir, source), message: sentence });
    for (const one of registered) {
      const { id, payloadSchema } = one.task;
      try {
        const exportName = exportNameOf(namespace, id);
        const manifest = sdk.manifestOf(published.define(one) as unknown as Task, source, exportName);
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
