import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createTarPacker } from 'modern-tar';

/** Digests and sizes of the uploaded archive and of its unpacked content. */
export interface Digests {
  readonly digest: string;
  readonly size: number;
  readonly blob: string;
  readonly blobSize: number;
}

/** Writes `node_modules` of a folder as a compressed tar archive. Equal files produce an equal archive. */
export async function packLayer(folder: string, to: string): Promise<Digests> {
  const files = (await filesBelow(folder, 'node_modules')).toSorted();
  const { readable, controller } = createTarPacker();
  const content = meter();
  const blob = meter();
  const adding = (async () => {
    try {
      for (const name of files) {
        const path = join(folder, name);
        const { size, mode } = await lstat(path);
        const header = {
          name,
          size,
          type: 'file' as const,
          mode: (mode & 0o111) === 0 ? 0o644 : 0o755,
          mtime: new Date(0),
          uid: 0,
          gid: 0,
        };
        await Readable.toWeb(createReadStream(path)).pipeTo(controller.add(header) as WritableStream);
      }
      controller.finalize();
    } catch (error) {
      controller.error(error);
    }
  })();
  await pipeline(
    Readable.fromWeb(readable as Parameters<typeof Readable.fromWeb>[0]),
    content.through,
    createGzip(),
    blob.through,
    createWriteStream(to, { mode: 0o600 }),
  );
  await adding;
  return { digest: content.digest(), size: content.size(), blob: blob.digest(), blobSize: blob.size() };
}

/** Half of the size of some packages. Nothing loads them. */
const sourceMap = /\.(?:[cm]?[jt]s|css)\.map$/;

/** Regular files, relative. Links, source maps and npm's own metadata are excluded. */
async function filesBelow(folder: string, below: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = `${below}/${entry.name}`;
    if (entry.isDirectory() && entry.name !== '.bin') found.push(...(await filesBelow(folder, path)));
    else if (entry.isFile() && path !== 'node_modules/.package-lock.json' && !sourceMap.test(entry.name))
      found.push(path);
  }
  return found;
}

function meter() {
  const hash: Hash = createHash('sha256');
  let bytes = 0;
  const through = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { through, digest: () => hash.digest('hex'), size: () => bytes };
}
