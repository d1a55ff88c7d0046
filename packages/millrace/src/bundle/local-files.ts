import { join, relative } from 'node:path';
import { ProjectError } from '@millrace/diagnostics';
import type { Project } from '../project/load.ts';
import { isBuildFailure, problemOf, slashes } from './messages.ts';
import { moduleOptions, outputOf } from './module-options.ts';
import { withEsbuild } from './with-esbuild.ts';

/** The project's own files from which its task files are built, relative to it. Throws a ProjectError if one does not compile. */
export async function localFiles(project: Project): Promise<string[]> {
  try {
    const { metafile } = await withEsbuild((esbuild) =>
      esbuild.build({
        ...moduleOptions(project),
        entryPoints: project.taskFiles.map((file) => ({ in: join(project.dir, file), out: outputOf(file) })),
        outdir: project.dir,
        allowOverwrite: true,
        packages: 'external',
      }),
    );
    const files = Object.keys(metafile.inputs).filter((path) => !path.includes('node_modules/'));
    return files.map((path) => slashes(relative(project.dir, join(project.dir, path)))).toSorted();
  } catch (error) {
    if (!isBuildFailure(error) || !error.errors[0]) throw error;
    throw new ProjectError(problemOf(error.errors[0], project.taskFiles[0] ?? '', project.dir));
  }
}
