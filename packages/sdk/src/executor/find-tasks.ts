import { taskBrand, type AnyTask } from '../task/types.ts';

export interface FoundTask {
  readonly task: AnyTask;
  readonly exportName: string;
}

const isTask = (value: unknown): value is AnyTask =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, taskBrand);

/** The tasks that a module exports, without duplicates, declared by any copy of this package. */
export function findTasks(moduleNamespace: Record<string, unknown>): FoundTask[] {
  const found = new Map<AnyTask, FoundTask>();
  for (const [exportName, value] of Object.entries(moduleNamespace)) {
    if (isTask(value) && !found.has(value)) found.set(value, { task: value, exportName });
  }
  return [...found.values()];
}
