import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RetryPolicy } from '@millrace/contract/runner';
import { buildSettings } from './build-settings.ts';
import type { BuildSettings } from './build-settings.ts';
import { projectPath } from './locate.ts';
import { ProjectError } from './problem.ts';
import { readConfig } from './read-config.ts';
import { taskFiles } from './task-files.ts';

/** A folder with tasks, as its configuration describes it. */
export interface Project {
  /** Absolute, links resolved. */
  readonly dir: string;
  readonly ref: string | null;
  /** Relative to the project; null without one. */
  readonly configFile: string | null;
  /** Folders with task files, absolute. */
  readonly taskDirs: readonly string[];
  /** Relative to the project, forward slashes, in a stable order. */
  readonly taskFiles: readonly string[];
  readonly defaults: { readonly retry?: RetryPolicy; readonly maxDuration?: number };
  readonly build: Required<BuildSettings>;
}

/** Reads the project in `folder`. Throws `ProjectError`, which names the file and, where there is one, the line. */
export async function loadProject(folder: string): Promise<Project> {
  const dir = await realpath(resolve(folder)).catch(() => {
    throw new ProjectError({ file: folder, line: null, column: null, message: 'this folder does not exist' });
  });
  const { file, config } = await readConfig(dir);
  const taskDirs = (config.dirs ?? ['./tasks']).map((taskDir) => resolve(dir, taskDir));
  const files = new Set<string>();
  for (const taskDir of taskDirs) {
    const found = await taskFiles(taskDir).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
      const shown = projectPath(dir, taskDir) || '.';
      const remedy = 'create it, or name the folders with your tasks in "dirs" of millrace.config.ts';
      throw new ProjectError({
        file: file ?? join(shown, ''),
        line: null,
        column: null,
        message: `there is no folder ${shown} in ${dir}: ${remedy}`,
      });
    });
    for (const path of found) files.add(projectPath(dir, path));
  }
  const { retry, maxDuration } = config;
  const build = buildSettings(config.build);
  // Checked when it was read.
  if (typeof build === 'string') throw new TypeError(build);
  return {
    dir,
    ref: config.project ?? null,
    configFile: file,
    taskDirs,
    taskFiles: [...files].toSorted(),
    defaults: { ...(retry && { retry }), ...(maxDuration !== undefined && { maxDuration }) },
    build,
  };
}
