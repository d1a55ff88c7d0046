import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ProjectError } from '@millrace/diagnostics';

/** Throws a ProjectError if the packages of a project are in archives, as Yarn's Plug'n'Play stores them: only Node.js with Yarn's loader finds them. */
export function refusePlugAndPlay(projectDir: string): void {
  for (let folder = projectDir; ; folder = dirname(folder)) {
    const file = join(folder, '.pnp.cjs');
    if (existsSync(file))
      throw new ProjectError({
        file,
        line: null,
        column: null,
        message: `packages are read from node_modules, which Yarn's Plug'n'Play does not create: set \`nodeLinker: node-modules\` in ${join(folder, '.yarnrc.yml')} and run \`yarn install\``,
      });
    // Folders above do not belong to the project.
    if (existsSync(join(folder, 'yarn.lock')) || folder === dirname(folder)) return;
  }
}
