import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';

export default async () => {
  const db = new ClassicLevel(await mkdtemp(join(tmpdir(), 'level-')));
  await db.put('a', 'b');
  const value = await db.get('a');
  await db.close();
  return value;
};
