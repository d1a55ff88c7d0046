import { retryPolicy } from '@millrace/contract/runner';
import type { RetryPolicy } from '@millrace/contract/runner';
import { buildSettings } from './build-settings.ts';
import type { BuildSettings } from './build-settings.ts';

/** The contents of `millrace.config.ts`. */
export interface ProjectConfig {
  /** Folders with task files, relative to the project. Default `['./tasks']`. */
  dirs?: string[];
  /** The project's ref, such as `proj_abc`; used by commands that need a project. */
  project?: string;
  /** Retry policy for tasks that have none of their own. */
  retry?: RetryPolicy;
  /** Maximum duration in seconds of an attempt of a task without its own `maxDuration`, at least 5. Default: no limit. */
  maxDuration?: number;
  /**
   * The file whose default export is the codec of the project, relative to it, such as `./codec.ts`: executors use it to seal outgoing data and
   * open incoming data. See docs/encryption.md. Default: nothing is sealed.
   */
  codec?: string;
  /** How `millrace deploy` builds the project. */
  build?: BuildSettings;
}

export const keys: ReadonlySet<string> = new Set([
  'dirs',
  'project',
  'retry',
  'maxDuration',
  'codec',
  'build',
]);

/** The configuration, or an error message if it is invalid. */
export function checkConfig(value: unknown): ProjectConfig | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'must export its configuration as default: export default defineConfig({ … })';
  }
  const config = value as Record<string, unknown>;
  const unknown = Object.keys(config).find((key) => !keys.has(key));
  if (unknown !== undefined)
    return `"${unknown}" is not a setting; valid settings are ${[...keys].join(', ')}`;
  const { dirs, project, retry, maxDuration, codec } = config;
  if (
    dirs !== undefined &&
    !(Array.isArray(dirs) && dirs.length > 0 && dirs.every((dir) => typeof dir === 'string'))
  ) {
    return '"dirs" must be an array of folders, such as ["./tasks"]';
  }
  if (project !== undefined && typeof project !== 'string')
    return '"project" must be a project ref (a string)';
  if (maxDuration !== undefined && !(Number.isInteger(maxDuration) && (maxDuration as number) >= 5)) {
    return '"maxDuration" must be a whole number of seconds, 5 or more';
  }
  if (codec !== undefined && (typeof codec !== 'string' || codec === ''))
    return '"codec" must be the path of the codec file, such as "./codec.ts"';
  if (retry !== undefined) {
    const parsed = retryPolicy.safeParse(retry);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      return `"${['retry', ...(issue?.path ?? [])].join('.')}": ${issue?.message ?? 'is not a retry policy'}`;
    }
  }
  const build = buildSettings(config['build']);
  return typeof build === 'string' ? build : config;
}
