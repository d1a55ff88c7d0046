import { isAbsolute, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withoutHelp } from '@millrace/contract/help';
import { explainNotExported } from './older-package.ts';
import type { Problem } from './problem.ts';

const frame =
  /(?:\(|at (?:async )?|^)(file:\/\/\/[^\s()]+?|\/[^()\n]+?|[A-Za-z]:\\[^()\n]+?):(\d+)(?::(\d+))?\)?$/;

/** A path for messages: relative to the project, with forward slashes. */
export const projectPath = (projectDir: string, file: string): string =>
  relative(projectDir, file).split(sep).join('/');

/**
 * Where in the project an error was thrown: the first stack frame in a file of the project. The stack must be source-mapped. `fallback`
 * is the file that was being loaded.
 */
export function locate(thrown: unknown, projectDir: string, fallback: string): Problem {
  // Other sentences follow, and the commands append the help address again.
  const message =
    thrown instanceof Error
      ? (explainNotExported(thrown) ?? `${thrown.name}: ${withoutHelp(thrown.message)}`)
      : String(thrown);
  const [position] = positionsOf(thrown, projectDir);
  return { ...(position ?? { file: fallback, line: null, column: null }), message };
}

/**
 * The project file whose import caused an error: that of the last stack frame, because functions of other files may have been called.
 * `fallback` if no frame is in the project.
 */
export const importedFile = (created: Error, projectDir: string, fallback: string): string =>
  positionsOf(created, projectDir).at(-1)?.file ?? fallback;

/** The stack frames in files of the project, innermost first. */
function positionsOf(thrown: unknown, projectDir: string): Omit<Problem, 'message'>[] {
  const stack = thrown instanceof Error ? String(thrown.stack ?? '') : '';
  return stack
    .split('\n')
    .slice(0, 200)
    .flatMap((line) => {
      const match = frame.exec(line.trim().slice(0, 1_000));
      if (!match?.[1]) return [];
      const file = match[1].startsWith('file:') ? fileURLToPath(match[1]) : match[1];
      const path = projectPath(projectDir, file);
      if (path.startsWith('..') || isAbsolute(path) || /(^|\/)(node_modules|\.millrace)\//.test(path))
        return [];
      return [{ file: path, line: Number(match[2]), column: match[3] ? Number(match[3]) : null }];
    });
}
