import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build as buildWithEsbuild } from 'esbuild';
import { build as buildWithVite, type Rolldown } from 'vite';

export interface Bundle {
  readonly code: string;
  /** Files in the bundle. */
  readonly modules: readonly string[];
  /** Modules that it imports at run time. */
  readonly imports: readonly string[];
}

/** A page module as bundlers build it for a browser, without React. */
export const bundles: Readonly<Record<string, (entry: string) => Promise<Bundle>>> = {
  async esbuild(entry) {
    const { outputFiles, metafile } = await buildWithEsbuild({
      entryPoints: [entry],
      bundle: true,
      write: false,
      outdir: '/',
      metafile: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      jsx: 'automatic',
      external: ['react', 'react/*'],
      logLevel: 'error',
    });
    const [output] = Object.values(metafile.outputs);
    return {
      code: outputFiles[0]?.text ?? '',
      modules: Object.entries(output?.inputs ?? {})
        .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .map(([path]) => path),
      imports: (output?.imports ?? []).map(({ path }) => path),
    };
  },

  async Vite(entry) {
    const result = (await buildWithVite({
      configFile: false,
      logLevel: 'error',
      build: {
        write: false,
        lib: { entry, formats: ['es'] },
        rolldownOptions: { external: /^react/ },
      },
    })) as Rolldown.RolldownOutput[];
    const chunks = result.flatMap(({ output }) => output).filter((output) => output.type === 'chunk');
    return {
      code: chunks.map(({ code }) => code).join('\n'),
      modules: chunks.flatMap(({ moduleIds }) => moduleIds),
      imports: chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports]),
    };
  },
};

/** The text of all scripts, pages and manifests below a folder. */
export async function filesOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.map'))
    .map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8'));
  return (await Promise.all(texts)).join('\n');
}
