import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { importsBelow, type Import } from './imports.ts';

const source = fileURLToPath(new URL('../../packages/dashboard/src/', import.meta.url));
const imports = importsBelow(source);

/** Which folders a folder may import. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  api: [],
  parts: ['api'],
  frame: ['api', 'parts'],
  pages: ['api', 'parts'],
};

const folderOf = (file: string): string => relative(source, file).split('/')[0] as string;
const pageOf = (file: string): string | undefined => /^pages\/([^/]+)\//.exec(relative(source, file))?.[1];
const target = ({ from, to }: Import): string => resolve(dirname(from), to);
const format = (entry: Import): string => `${relative(source, entry.from)} → ${entry.to}`;

test('folders of the dashboard import only the folders that the table allows', () => {
  const wrong = imports.filter((entry) => {
    const [from, to] = [folderOf(entry.from), folderOf(target(entry))];
    return entry.to.startsWith('.') && from in arrows && from !== to && !arrows[from]?.includes(to);
  });
  expect(imports.length).toBeGreaterThan(100);
  expect(wrong.map(format)).toEqual([]);
});

test('no page imports another page', () => {
  const wrong = imports.filter((entry) => {
    const [from, to] = [pageOf(entry.from), entry.to.startsWith('.') ? pageOf(target(entry)) : undefined];
    return from !== undefined && to !== undefined && from !== to;
  });
  expect(wrong.map(format)).toEqual([]);
});

test('only types of the contract are bundled, and modules that need no schema', () => {
  const allowed = new Set([
    '@millrace/contract/event-stream',
    '@millrace/contract/filter',
    '@millrace/contract/help',
    '@millrace/contract/plain',
  ]);
  const wrong = imports.filter(
    ({ to, isType }) => (to.startsWith('@millrace/') || to === 'zod') && !isType && !allowed.has(to),
  );
  expect(wrong.map(format)).toEqual([]);
});

test.each(['filter/index.ts', 'plain.ts'])(
  'no module that %s of the contract imports has a schema',
  (entry) => {
    const contract = fileURLToPath(new URL('../../packages/contract/src/', import.meta.url));
    const open = [join(contract, entry)];
    const found = new Set(open);
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      for (const [, isType, to = ''] of readFileSync(file, 'utf8').matchAll(
        /^(?:import|export) (type )?[^'"]*from '([^']+)'/gm,
      )) {
        if (isType) continue;
        expect(to).toMatch(/^\./);
        const next = resolve(dirname(file), to);
        if (!found.has(next)) open.push(next);
        found.add(next);
      }
    }
    expect(found.size).toBeGreaterThan(2);
  },
);
