import type { IndexedTask, ServedTask } from '@millrace/runner';

/** The part of the tasks' declarations that a runner needs to execute them, by id. */
export const servedTasks = (tasks: readonly IndexedTask[]): Record<string, ServedTask> =>
  Object.fromEntries(
    tasks.map(({ source, manifest }) => {
      const { id, filePath, isolated = false, machine = null, maxDuration = null, retry } = manifest;
      return [
        id,
        { source, filePath, isolated, machine, maxDuration, ...(retry?.outOfMemory && { retry }) },
      ] as const;
    }),
  );
