import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fs from 'fs-extra';

export default async () => {
  const file = join(tmpdir(), `fs-extra-${process.pid}`, 'a.json');
  await fs.outputJson(file, { a: 1 });
  return fs.readJson(file);
};
