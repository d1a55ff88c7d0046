import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { Piscina } from 'piscina';

/** Its worker is a file of the package. */
export default async () => {
  const filename = join(tmpdir(), `piscina-${process.pid}.cjs`);
  await writeFile(filename, 'module.exports = (n) => n * 2;');
  const pool = new Piscina({ filename, maxThreads: 1 });
  const doubled = await pool.run(4);
  await pool.destroy();
  return doubled;
};
