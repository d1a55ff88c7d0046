import { buffer } from 'node:stream/consumers';
import * as archiver from 'archiver';

export default async () => {
  const archive = archiver.ZipArchive ? new archiver.ZipArchive() : archiver.default('zip');
  archive.append('hello', { name: 'a.txt' });
  void archive.finalize();
  return (await buffer(archive)).subarray(0, 2).toString('latin1');
};
