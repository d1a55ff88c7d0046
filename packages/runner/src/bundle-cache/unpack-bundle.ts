import { createWriteStream } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bundlePath, type BundleFile } from '@millrace/contract/runner';
import { inParallel } from '@millrace/platform';
import { CannotServe } from './errors.ts';
import { save } from './save.ts';
import type { BundleSource, FetchedBundle } from './source.ts';

/** Number of blobs that are fetched concurrently. */
const atOnce = 8;

/** The path of the packages of a bundle with a layer, relative to the folder of the bundle. */
export const packagesLink = (layer: string): string => join('..', 'layers', layer, 'node_modules');

/** Fetches the files of a bundle into an empty folder. */
export async function unpackBundle(
  source: BundleSource,
  bundle: FetchedBundle,
  layer: string | undefined,
  folder: string,
): Promise<void> {
  const folders = new Set(bundle.files.map(({ path }) => dirname(join(folder, checked(path)))));
  for (const parent of folders) await mkdir(parent, { recursive: true });
  await inParallel(bundle.files, atOnce, (file) => fetchFile(source, bundle.version, file, folder));
  if (layer !== undefined) await symlink(packagesLink(layer), join(folder, 'node_modules'), 'dir');
}

const fetchFile = (source: BundleSource, version: string, file: BundleFile, folder: string): Promise<void> =>
  save(
    source.blob(version, file.blob, file.blobSize),
    file,
    file.path,
    // With `wx`, two files with the same path, or with paths that this file system considers equal, do not overwrite each other.
    createWriteStream(join(folder, file.path), { flags: 'wx' }),
  );

/** The server has checked the path too. A path outside the folder is never written, even if the server sends it. */
function checked(path: string): string {
  if (bundlePath.safeParse(path).success) return path;
  throw new CannotServe(`its file ${JSON.stringify(path)} has a path that is not allowed`);
}
