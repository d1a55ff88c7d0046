import type { Folder } from '@millrace/runner';
import { buildsFolder } from '../bundle/versions-file.ts';
import { loadProject } from '../project/load.ts';
import { FolderVersions } from './folder-versions.ts';
import { lendSdk } from './lend-sdk.ts';

export interface OpenOptions {
  readonly projectDir: string;
  /** Register a new version whenever the project's files change. */
  readonly watch: boolean;
  /** Register nothing and do not start if the project has a problem. Default: serve the valid parts. */
  readonly isStrict?: boolean;
  /** Where builds are stored: inside the project, so that they find its packages. Default `.millrace/build`. */
  readonly buildDir?: string;
  /** The project has no SDK installed, so its tasks import this command's copy. */
  readonly onSdkLent?: (() => void) | undefined;
}

/** A project folder for a runner, which bundles its task files. Rejects with a `ProjectError` if the project cannot be read. */
export async function openFolder({
  projectDir,
  watch,
  isStrict = false,
  buildDir,
  onSdkLent,
}: OpenOptions): Promise<Folder> {
  const { dir, published } = await loadProject(projectDir);
  // If problems are rejected, a missing SDK is one. Tasks of the published SDK do not need ours.
  if (await lendSdk(dir, !isStrict && !published)) onSdkLent?.();
  const buildsDir = buildDir ?? buildsFolder(dir);
  return {
    dir,
    open: (options) => new FolderVersions({ ...options, projectDir: dir, buildsDir, isStrict, watch }),
  };
}
