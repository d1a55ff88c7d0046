import type * as Esbuild from 'esbuild';

let building = 0;

/** Loads esbuild for one piece of work; its service process goes when nobody builds, since it would hold 20 MB for nothing. */
export async function withEsbuild<T>(work: (esbuild: typeof Esbuild) => Promise<T>): Promise<T> {
  const esbuild = await import('esbuild');
  building += 1;
  try {
    return await work(esbuild);
  } finally {
    building -= 1;
    if (building === 0) await esbuild.stop();
  }
}
