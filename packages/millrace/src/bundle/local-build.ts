import type { startServer } from '@millrace/server';
import { buildsFolder, versionsOnDisk } from './versions-file.ts';

type FindLocalBuild = NonNullable<Parameters<typeof startServer>[0]['localBuild']>;

/** Finds the builds of a project folder for a server in the same process, which shows lines of their source. */
export const localBuildIn =
  (projectDir: string): FindLocalBuild =>
  async ({ projectRef, publicId }, version) => {
    const builds = await versionsOnDisk(buildsFolder(projectDir), `${projectRef}/${publicId}`);
    const build = builds.get(version);
    return build && { dir: build.dir, projectDir };
  };
