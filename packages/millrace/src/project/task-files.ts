import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const source = /\.(?:[cm]?[jt]s|[jt]sx)$/;
const notTasks = /\.(?:test|spec)\.[^.]+$|\.d\.[cm]?ts$/;

/** Whether a file in a task folder may declare tasks. */
export const isTaskFile = (name: string): boolean => source.test(name) && !notTasks.test(name);

const init = /^init\.[cm]?[jt]s$/;

/** Whether a task file is an `init` file directly in a task folder. `taskDirs` are relative to the project, like `path`. */
export const isInit = (path: string, taskDirs: readonly string[]): boolean =>
  taskDirs.some((taskDir) => {
    const prefix = taskDir === '' ? '' : `${taskDir}/`;
    return path.startsWith(prefix) && init.test(path.slice(prefix.length));
  });

/** All task files in a folder, absolute, in a stable order. Hidden folders and `node_modules` are skipped. */
export async function taskFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules' && !entry.name.startsWith('.'))
        found.push(...(await taskFiles(path)));
    } else if (isTaskFile(entry.name)) {
      found.push(path);
    }
  }
  return found.toSorted();
}
