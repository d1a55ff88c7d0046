import { isAbsolute } from 'node:path';
import { locate, type Problem } from '@millrace/diagnostics';
import type { Sdk } from './sdk.ts';

export type DeclaredTask = ReturnType<Sdk['collectDeclaredTasks']>[number];

/** A declaration, and the task file that was being imported. */
export interface Declared {
  readonly task: DeclaredTask;
  readonly source: string;
}

/**
 * Finds tasks that the project's files declare but no task file exports, so that they would not be served. Tasks in packages and in files
 * outside the project are ignored, because they may belong to another project and be imported only to trigger them.
 */
export function notExported(
  declared: readonly Declared[],
  exportedRuns: ReadonlySet<unknown>,
  projectDir: string,
): Problem[] {
  return declared.flatMap(({ task: { definition, at }, source }) => {
    if (exportedRuns.has(definition.run)) return [];
    const { file, line, column } = locate(at, projectDir, '');
    if (file === '' || file.startsWith('..') || isAbsolute(file)) return [];
    const remedy =
      file === source ? `export it from there` : `export it from a file in a task folder, such as ${source}`;
    const message = `task ${JSON.stringify(definition.id)} is defined in ${file} but not exported, so nothing serves it: ${remedy}`;
    return [{ file, line, column, message }];
  });
}
