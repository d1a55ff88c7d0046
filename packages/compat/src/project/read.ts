import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ProjectError } from '@millrace/diagnostics';
import { configurationIn } from '../settings/configuration.ts';
import { readPublishedConfig, type PublishedConfig } from './config.ts';
import { dependsOnPublished, findCopy } from './copy.ts';
import { codeOf } from '../uses/code-of.ts';
import { positionOf } from '../uses/position.ts';
import { triggerFolders } from './task-dirs.ts';

/** Names of the published SDK's configuration; the first that exists is used. */
const configFiles = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map(
  (extension) => `trigger.config.${extension}`,
);

/** The part of a project that uses the published SDK. */
export interface PublishedProject {
  /** The version of the project's copy of the package. */
  readonly version: string;
  /** Relative to the project; null without one. */
  readonly file: string | null;
  readonly config: PublishedConfig;
  /** Absolute. */
  readonly taskDirs: readonly string[];
}

/** The exports of a project's configuration file. Throws a ProjectError. */
type EvaluateConfig = (projectDir: string, file: string) => Promise<Readonly<Record<string, unknown>>>;

/** Reads that part, if there is one: a `trigger.config.ts`, or the package among the dependencies. */
export async function readPublished(
  projectDir: string,
  evaluateConfig: EvaluateConfig,
): Promise<PublishedProject | undefined> {
  const file = configFiles.find((name) => existsSync(join(projectDir, name))) ?? null;
  if (file === null && !dependsOnPublished(projectDir)) return undefined;
  const copy = findCopy(projectDir);
  if ('refused' in copy) {
    // Without a configuration, the package may only be used as a client.
    if (file === null) return undefined;
    throw problem(file, copy.refused);
  }
  const exported = file === null ? { default: {} } : await evaluateConfig(projectDir, file);
  const config = readPublishedConfig(configurationIn(exported), copy.version, exported['resolveEnvVars']);
  if (typeof config === 'string')
    throw problem(
      file ?? 'package.json',
      config,
      file === null ? '' : await readFile(join(projectDir, file), 'utf8'),
    );
  const { dirs } = config;
  const taskDirs = dirs?.map((dir) => resolve(projectDir, dir)) ?? (await triggerFolders(projectDir));
  return { version: copy.version, file, config, taskDirs };
}

/** A problem in the configuration, with the line of the setting that its message begins with. */
function problem(file: string, message: string, text = ''): ProjectError {
  const setting =
    /^"[\w.]*?(\w+)"/.exec(message)?.[1] ?? (message.startsWith('the extension') ? 'extensions' : undefined);
  const at = setting === undefined ? -1 : codeOf(text).search(new RegExp(String.raw`\b${setting}\s*[:(,}]`));
  if (at < 0) return new ProjectError({ file, line: null, column: null, message });
  return new ProjectError({ file, ...positionOf(text, at), message });
}
