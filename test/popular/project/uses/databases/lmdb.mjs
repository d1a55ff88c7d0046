import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';

export default async () => {
  const db = open({ path: await mkdtemp(join(tmpdir(), 'lmdb-')) });
  await db.put('a', 'b');
  const value = db.get('a');
  await db.close();
  return value;
};
