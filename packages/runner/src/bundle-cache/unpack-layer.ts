import { posix } from 'node:path';
import type { BundleLayer } from '@millrace/contract/runner';
import { unpackTar, type UnpackOptionsFS } from 'modern-tar/fs';
import { CannotServe } from './errors.ts';
import { save } from './save.ts';
import type { BundleSource } from './source.ts';

type Header = Parameters<NonNullable<UnpackOptionsFS['filter']>>[0];

const root = 'node_modules';
const isInside = (path: string): boolean => path === root || path.startsWith(`${root}/`);

/** Fetches a layer into an empty folder, which then contains `node_modules`. */
export async function unpackLayer(
  source: BundleSource,
  version: string,
  layer: BundleLayer,
  folder: string,
): Promise<void> {
  const sink = unpackTar(folder, { strict: true, filter: (header) => refuseUnsafe(header) });
  await save(source.blob(version, layer.blob, layer.blobSize), layer, 'its package layer', sink);
}

/** Rejects an archive that would write outside of `node_modules`, or that contains anything other than files, folders and links within it. */
function refuseUnsafe({ name, type = 'file', linkname }: Header): true {
  const refuse = (why: string): never => {
    throw new CannotServe(`its package layer has the entry ${JSON.stringify(name)}, ${why}`);
  };
  const parts = name.replace(/\/+$/, '').split('/');
  if (name.startsWith('/') || name.includes('\\') || name.includes('\0') || parts.includes('..'))
    refuse('whose path leaves the layer');
  const path = posix.normalize(parts.join('/'));
  if (!isInside(path) && path !== '.') refuse(`which is not in ${root}`);
  if (type === 'file' || type === 'directory') return true;
  if (type !== 'symlink' && type !== 'link') refuse(`which is a ${type}`);
  const target = linkname ?? '';
  // A symbolic link is relative to its own folder, a hard link to the root of the archive.
  const meant = type === 'symlink' ? posix.join(posix.dirname(path), target) : posix.normalize(target);
  if (target === '' || target.startsWith('/') || target.includes('\\') || !isInside(meant))
    refuse('a link that leaves the layer');
  return true;
}
