import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { cacheFolder, outdated, root } from '../../build/up-to-date.ts';

const out = join(root, 'packages/server/dashboard');
/** Built here, then swapped with the old files in one step: because a server may read them and another process may build them. */
const half = join(cacheFolder, `dashboard-${process.pid}`);

/** The inputs of the built files. */
const inputs = ['packages/dashboard', 'packages/contract/src', 'package-lock.json'];

/** Writes the brotli and gzip forms of each text file, because the server does not compress. */
async function precompress(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!/\.(?:js|css|svg)$/.test(name)) continue;
    const file = join(folder, name);
    const content = await readFile(file);
    const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
    await writeFile(`${file}.br`, await promisify(brotliCompress)(content, options));
    await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
  }
}

async function replace(): Promise<void> {
  const old = `${half}-old`;
  await rename(out, old).catch(() => {});
  await rename(half, out).catch(async (error: unknown) => {
    // Another process was faster; its files are the same.
    if ((await read(join(out, 'index.html'))) === '') throw error;
  });
  await rm(half, { recursive: true, force: true });
  await rm(old, { recursive: true, force: true });
}

const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

const done = await outdated('dashboard', inputs);
if (done || (await read(join(out, 'index.html'))) === '') {
  // Always the production build: development React is twice as large.
  process.env['NODE_ENV'] = 'production';
  const { build } = await import('vite');
  await mkdir(cacheFolder, { recursive: true });
  await build({
    configFile: fileURLToPath(new URL('vite.config.ts', import.meta.url)),
    logLevel: 'warn',
    build: { outDir: half },
  });
  await precompress(join(half, 'assets'));
  await replace();
  await done?.();
}
