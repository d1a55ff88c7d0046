import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { PublishedSettings, RetryPolicy } from '@millrace/contract/runner';
import { ProjectError, projectPath } from '@millrace/diagnostics';
import { ignoredFiles, type PublishedProject, readPublished } from '@millrace/compat';
import { buildSettings } from './build-settings.ts';
import type { BuildSettings } from './build-settings.ts';
import { evaluateConfig } from './evaluate-config.ts';
import { refusePlugAndPlay } from './plug-and-play.ts';
import { readConfig } from './read-config.ts';
import { isInit, taskFiles } from './task-files.ts';

/** A folder with tasks, as described by its configuration. */
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
  readonly defaults: {
    readonly retry?: RetryPolicy;
    readonly maxDuration?: number;
    readonly published?: PublishedSettings;
    readonly codec?: string;
    readonly preloads?: string[];
  };
  readonly build: Required<BuildSettings>;
  /** The part that uses the published SDK. */
  readonly published?: PublishedProject | undefined;
}

/** Reads the project in `folder`. Throws a `ProjectError`, which names the file and, if known, the line. */
export async function loadProject(folder: string): Promise<Project> {
  const dir = await realpath(resolve(folder)).catch(() => {
    throw new ProjectError({ file: folder, line: null, column: null, message: 'this folder does not exist' });
  });
  refusePlugAndPlay(dir);
  const { file, config } = await readConfig(dir);
  const published = await readPublished(dir, evaluateConfig);
  const configFile = file ?? published?.file ?? null;
  // If only a dependency indicates the published SDK, it may be used as a client for our tasks.
  const isTheirs = file === null && published && (published.file !== null || !existsSync(join(dir, 'tasks')));
  const ownDirs = config.dirs ?? (isTheirs ? [] : ['./tasks']);
  const taskDirs = [...ownDirs.map((taskDir) => resolve(dir, taskDir)), ...(published?.taskDirs ?? [])];
  const files = new Set<string>();
  for (const taskDir of taskDirs) {
    const found = await taskFiles(taskDir).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
      const displayPath = projectPath(dir, taskDir) || '.';
      const remedy = `create it, or list your task folders in "dirs" of ${configFile ?? 'millrace.config.ts'}`;
      throw new ProjectError({
        file: configFile ?? join(displayPath, ''),
        line: null,
        column: null,
        message: `no folder ${displayPath} in ${dir}: ${remedy}`,
      });
    });
    for (const path of found) files.add(projectPath(dir, path));
  }
  const codec = config.codec === undefined ? undefined : codecFile(dir, config.codec, configFile);
  const { retry, maxDuration } = config;
  const build = buildSettings(config.build);
  // Checked when it was read.
  if (typeof build === 'string') throw new TypeError(build);
  const external = [...new Set([...build.external, ...(published?.config.external ?? [])])];
  const ignored = published && (await ignoredFiles(dir, published));
  const served = [...files].filter((path) => !ignored?.has(path)).toSorted();
  const withHooks = published?.config.hasHooks ? published.file : null;
  const preloads = [
    ...(codec === undefined ? [] : [codec]),
    ...(withHooks === null ? [] : [withHooks]),
    ...served.filter((path) =>
      isInit(
        path,
        taskDirs.map((taskDir) => projectPath(dir, taskDir)),
      ),
    ),
  ];
  return {
    dir,
    ref: config.project ?? null,
    configFile,
    taskDirs,
    taskFiles: [...new Set([...preloads, ...served])],
    defaults: {
      ...(retry && { retry }),
      ...(maxDuration !== undefined && { maxDuration }),
      ...(codec !== undefined && { codec }),
      ...(preloads.length > 0 && { preloads }),
      ...(published && { published: settingsOf(published, withHooks) }),
    },
    build: { ...build, external },
    ...(published && { published }),
  };
}

/** The file of the codec, relative to the project. */
function codecFile(dir: string, codec: string, configFile: string | null): string {
  const file = projectPath(dir, resolve(dir, codec));
  if (!file.startsWith('..') && existsSync(join(dir, file))) return file;
  throw new ProjectError({
    file: configFile ?? 'millrace.config.ts',
    line: null,
    column: null,
    message: `"codec" is ${codec}, which does not exist in the project`,
  });
}

const settingsOf = ({ version, config }: PublishedProject, configFile: string | null): PublishedSettings => ({
  version,
  ...(configFile !== null && { configFile }),
  ...config.settings,
});
