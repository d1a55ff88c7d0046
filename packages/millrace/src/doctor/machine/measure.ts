import { statfs } from 'node:fs/promises';
import type { DiskUse } from './input.ts';

export async function measureDisk(folder: string): Promise<DiskUse> {
  const { bsize, blocks, bavail, files, ffree } = await statfs(folder);
  return { bytes: blocks * bsize, freeBytes: bavail * bsize, inodes: files, freeInodes: ffree };
}
