import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtFile, explainFolder, makeFolder } from '@millrace/platform';
import { locate, ProjectError } from '@millrace/diagnostics';
import type { BuildFailure, Plugin } from 'esbuild';
import { withEsbuild } from '../bundle/with-esbuild.ts';

const ownHelpers = builtFile('index.js');

/** `defineConfig` and the build hooks are part of the command, so that a configuration file needs no installed package. */
const helpersPlugin: Plugin = {
  name: 'millrace',
  setup(build) {
    build.onResolve({ filter: /^millrace$/ }, () => ({ path: ownHelpers }));
  },
};

/** The exports of a configuration file. Throws a ProjectError that names the file and the line. */
export const evaluateConfig = async (
  projectDir: string,
  file: string,
): Promise<Readonly<Record<string, unknown>>> =>
  importConfig(projectDir, file, await compile(projectDir, file));

async function compile(projectDir: string, file: string): Promise<string> {
  try {
    const { outputFiles } = await withEsbuild((esbuild) =>
      esbuild.build({
        absWorkingDir: projectDir,
        entryPoints: [file],
        bundle: true,
        write: false,
        format: 'esm',
        platform: 'node',
        target: 'node20',
        packages: 'external',
        sourcemap: 'inline',
        outdir: join(projectDir, '.millrace'),
        logLevel: 'silent',
        plugins: [helpersPlugin],
      }),
    );
    return outputFiles[0]?.text ?? '';
  } catch (error) {
    const first = (error as BuildFailure).errors?.[0];
    if (!first) throw error;
    const { location } = first;
    throw new ProjectError({
      file: location?.file ?? file,
      line: location?.line ?? null,
      column: location ? location.column + 1 : null,
      message: first.text,
    });
  }
}

/** Uses a new file for each import, because Node.js caches modules by URL. */
async function importConfig(
  projectDir: string,
  file: string,
  code: string,
): Promise<Readonly<Record<string, unknown>>> {
  const folder = join(projectDir, '.millrace');
  await makeFolder(folder);
  const compiled = join(
    folder,
    `config-${process.pid}-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}.mjs`,
  );
  await writeFile(compiled, code).catch((error: unknown) => {
    throw explainFolder(error, folder);
  });
  const mapped = process.sourceMapsEnabled;
  process.setSourceMapsEnabled(true);
  try {
    return (await import(pathToFileURL(compiled).href)) as Record<string, unknown>;
  } catch (error) {
    throw new ProjectError(locate(error, projectDir, file));
  } finally {
    process.setSourceMapsEnabled(mapped);
    await rm(compiled, { force: true });
  }
}
