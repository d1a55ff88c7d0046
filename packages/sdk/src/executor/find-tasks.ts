import { taskBrand, type AnyTask } from '../task/types.ts';

export interface FoundTask {
  readonly task: AnyTask;
  readonly exportName: string;
}

const isTask = (value: unknown): value is AnyTask =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, taskBrand);

/** The exports of a CommonJS module, which are the default export of its namespace. */
const commonJs = ({ default: exported }: Record<string, unknown>): object =>
  typeof exported === 'object' && exported !== null && !isTask(exported) && !Array.isArray(exported)
    ? exported
    : {};

/** The tasks that a module exports, without duplicates, including those declared with another copy of this package. */
export function findTasks(moduleNamespace: Record<string, unknown>): FoundTask[] {
  const found = new Map<AnyTask, FoundTask>();
  const exported = [...Object.entries(moduleNamespace), ...Object.entries(commonJs(moduleNamespace))];
  for (const [exportName, value] of exported) {
    if (isTask(value) && !found.has(value)) found.set(value, { task: value, exportName });
  }
  return [...found.values()];
}
