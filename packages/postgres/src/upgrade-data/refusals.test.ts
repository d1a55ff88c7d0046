import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OLDEST_MAJOR } from '../cluster/index.ts';
import { createTemporaryFolder } from '../cluster/testing/folders.ts';
import { findOldBinaries } from './old-binaries.ts';
import { requireSpace } from './space.ts';

const manifest = JSON.parse(
  readFileSync(new URL('../../../millrace/package.json', import.meta.url), 'utf8'),
) as {
  optionalDependencies: Record<string, string>;
};
const [range = ''] = Object.values(manifest.optionalDependencies);
const present = Number(/\d+/.exec(range)?.[0]);

test('every earlier major version has a known package', async () => {
  expect(present).toBeGreaterThan(OLDEST_MAJOR);
  for (let major = OLDEST_MAJOR; major < present; major += 1) {
    const cluster = createTemporaryFolder();
    writeFileSync(join(cluster, 'PG_VERSION'), `${major}\n`);
    await expect(findOldBinaries(cluster, null, join(cluster, 'nothing'))).rejects.toThrow(
      new RegExp(`has no postgres, .* requires PostgreSQL ${major}\\. Run \`npm install .*@${major}\\.\\d+`),
    );
  }
});

test('rejects a disk without space for the copy in advance, with both sizes', async () => {
  const data = createTemporaryFolder();
  const base = join(data, 'postgres/base/1');
  mkdirSync(base, { recursive: true });
  writeFileSync(join(base, '1'), '');
  await requireSpace(data, join(data, 'postgres'));
  // A sparse file, which takes up no space itself.
  truncateSync(join(base, '1'), 4 * 1024 ** 4);
  await expect(requireSpace(data, join(data, 'postgres'))).rejects.toThrow(
    /^The new database needs up to [\d.,]+ \w+, and the disk of .* has [\d.,]+ \w+\. Free some space/,
  );
});
