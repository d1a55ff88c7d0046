import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Pages about the repository. Their paths are from its root, from the server's source or from the server. */
const folders = ['.', 'docs', 'docs/coming-from', 'docs/decisions'];
/** Pages with paths in user projects. */
const others = new Set(['CHANGELOG.md', 'tasks.md', 'config.md', 'testing.md']);
const bases = ['.', 'packages/server/src', 'packages/server', 'packages/server/sql'];

test('paths that the documentation names exist', async () => {
  const missing: string[] = [];
  for (const folder of folders) {
    for (const name of await readdir(join(root, folder))) {
      if (!name.endsWith('.md') || others.has(name)) continue;
      const markdown = (await readFile(join(root, folder, name), 'utf8')).replaceAll(/```[\s\S]*?```/g, '');
      for (const [, path = ''] of markdown.matchAll(
        /`((?:[\w.-]+\/)+(?:[\w-]+(?:\.test)?\.(?:ts|sql))?)`/g,
      )) {
        // Folders in a user's project.
        if (/^(?:data|\.millrace)\//.test(path)) continue;
        if (!bases.some((base) => existsSync(join(root, base, path))))
          missing.push(`${join(folder, name)}: ${path}`);
      }
    }
  }
  expect(missing).toEqual([]);
});
