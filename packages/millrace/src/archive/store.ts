import { createReadStream } from 'node:fs';
import { access, copyFile, mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobStore } from '@millrace/server';

/** Where an archive is stored: a folder or an S3-compatible bucket. Files are replaced as a whole. */
export interface ArchiveStore {
  readonly name: string;
  /** Stores the file at `path`. */
  put(name: string, path: string, size: number, digest: string): Promise<void>;
  read(name: string): Promise<AsyncIterable<Buffer>>;
  has(name: string): Promise<boolean>;
}

export async function folderStore(folder: string): Promise<ArchiveStore> {
  await mkdir(folder, { recursive: true });
  const at = (name: string): string => join(folder, name);
  return {
    name: folder,
    async put(name, path) {
      // A file that is not complete never has its name, even after a crash of the machine.
      const unfinished = at(`.${name}.unfinished`);
      await copyFile(path, unfinished);
      const handle = await open(unfinished, 'r+');
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(unfinished, at(name));
    },
    read: (name) => Promise.resolve(createReadStream(at(name)) as AsyncIterable<Buffer>),
    async has(name) {
      return access(at(name)).then(
        () => true,
        (error: unknown) => {
          if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
          throw error;
        },
      );
    },
  };
}

export const bucketStore = (store: BlobStore): ArchiveStore => ({
  name: store.name,
  put: (name, path, size, digest) =>
    store.put(name, size, digest, createReadStream(path) as AsyncIterable<Buffer>),
  read: (name) => store.read(name, 0),
  has: (name) => store.has(name),
});
