import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const packages = fileURLToPath(new URL('../../packages/', import.meta.url));

/** The maximum lines of source per package, without tests and their helpers, so that one person can know it. */
const maxLines = 12_000;

/** Packages above the limit, each with its maximum size until it is divided. */
const larger: Readonly<Record<string, number>> = {
  server: Infinity,
  dashboard: Infinity,
  // The operations are 8,500, one file per concept.
  contract: 13_200,
  // Writing tasks, triggering them, the client and the executor side.
  sdk: 15_850,
  // The commands alone are 12,300; the bundler and deployments are 4,700, the rooms of one command (archive, demo, mcp, transfer) 4,600, and the
  // scripts that complete commands in three shells 440.
  millrace: 23_800,
};

function linesOf(name: string): number {
  const source = join(packages, name, 'src');
  return readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/(?:^|\/)testing\//.test(relative(source, file)))
    .reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0);
}

test.each(readdirSync(packages))('%s has no more lines of source than a package may have', (name) => {
  expect(linesOf(name)).toBeLessThanOrEqual(larger[name] ?? maxLines);
});

test('a package that has become small enough is no longer an exception', () => {
  const small = Object.entries(larger).filter(([name, max]) => max < Infinity && linesOf(name) <= maxLines);
  expect(small).toEqual([]);
});
