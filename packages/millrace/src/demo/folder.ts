import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeFolder } from '@millrace/platform';

/** A folder that cannot be used for the shop. */
export class DemoFolderRefused extends Error {
  override readonly name = 'DemoFolderRefused';
}

export interface DemoFolder {
  readonly path: string;
  /** Whether an earlier process filled the shop. */
  readonly isFilled: boolean;
  /** Records that the shop is filled. */
  filled(): Promise<void>;
  /** Removes a temporary folder. */
  remove(): Promise<void>;
}

const mark = 'shop-is-filled';

/** A temporary folder, or the given one, which must be new, empty or contain a shop. */
export async function openDemoFolder(requestedPath: string | undefined): Promise<DemoFolder> {
  const path =
    requestedPath === undefined ? await mkdtemp(join(tmpdir(), 'millrace-demo-')) : resolve(requestedPath);
  await makeFolder(path);
  const isFilled = await readFile(join(path, mark)).then(
    () => true,
    () => false,
  );
  if (!isFilled && (await readdir(path)).length > 0)
    throw new DemoFolderRefused(
      `${path} is not empty and does not contain a complete demo shop. Choose a new folder.`,
    );
  return {
    path,
    isFilled,
    filled: () => writeFile(join(path, mark), ''),
    async remove() {
      if (requestedPath === undefined) await rm(path, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
