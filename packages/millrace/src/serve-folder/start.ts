import {
  type Runner,
  type RunnerEvents,
  type RunnerOptions as Options,
  startRunner as start,
} from '@millrace/runner';
import { openFolder, type OpenOptions } from './open.ts';

export interface FolderEvents extends RunnerEvents, Pick<OpenOptions, 'onSdkLent'> {}

export interface RunnerOptions
  extends Omit<Options, 'folder' | 'events'>, Omit<OpenOptions, 'projectDir' | 'onSdkLent'> {
  /** A folder whose code it registers and serves. Without one it only serves versions that it fetches, and requires `cache`. */
  readonly projectDir?: string | undefined;
  readonly events?: FolderEvents;
}

/** Starts a runner that builds the versions of a project folder. Rejects with the errors of the runner's `startRunner` and of `openFolder`. */
export async function startRunner({
  projectDir,
  watch,
  isStrict,
  buildDir,
  ...options
}: RunnerOptions): Promise<Runner> {
  if (projectDir === undefined) return start(options);
  const { onSdkLent } = options.events ?? {};
  const folder = await openFolder({ projectDir, watch, isStrict, buildDir, onSdkLent });
  return start({ ...options, folder });
}
