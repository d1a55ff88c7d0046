import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { facet, facetKinds } from './facet.ts';

const server = fileURLToPath(new URL('../../../', import.meta.url));

test('SQL writes facets of the declared kinds', async () => {
  const used = new Set<string>();
  for await (const file of glob(['sql/functions/**/*.sql', 'src/**/*.ts'], { cwd: server }))
    for (const [, kind = ''] of (await readFile(join(server, file), 'utf8')).matchAll(
      /\bfacet(?:_of)?\('(\w+)', /g,
    ))
      used.add(kind);
  expect([...used].toSorted()).toEqual(facetKinds.toSorted());
});

test('a facet names its kind', () => {
  expect(facet('version', 7)).toBe('version:7');
});
