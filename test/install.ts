/**
 * Installs the packages that only tests and the documentation need, below `test`, unless its lockfile was installed already. Makes
 * `test/modules`, where projects of tests find these packages and those of the repository.
 */
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installOnce } from './support/install-once.ts';

const path = (below: string): string => fileURLToPath(new URL(below, import.meta.url));

installOnce(
  path('.'),
  'the packages that only tests need, once for each version of test/package-lock.json',
  () => {
    // Examples and documentation have no packages of their own, so that a clone stays light.
    for (const folder of ['../examples', '../docs']) link(path(`${folder}/node_modules`));
  },
);

function link(place: string): void {
  rmSync(place, { recursive: true, force: true });
  symlinkSync('../test/node_modules', place, 'junction');
}

/** Links the packages of both installations; of two versions, that of the repository. */
function linkAll(): void {
  const all = path('modules/node_modules');
  rmSync(all, { recursive: true, force: true });
  const installed = [path('node_modules'), path('../node_modules')].flatMap((folder) =>
    packagesIn(folder).map((name) => [name, join(folder, name)] as const),
  );
  for (const [name, from] of new Map(installed)) {
    const to = join(all, name);
    mkdirSync(dirname(to), { recursive: true });
    symlinkSync(relative(dirname(to), from), to, 'junction');
  }
}

/** Names such as `zod`, `@types/pg` and `.bin/jest`. */
const packagesIn = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) =>
    name.startsWith('@') || name === '.bin'
      ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`)
      : name.startsWith('.')
        ? []
        : [name],
  );

linkAll();
