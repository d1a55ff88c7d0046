import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import semver from 'semver';

export const publishedName = '@trigger.dev/sdk';

/** The minor versions that our tests run. Other 4.x versions are accepted too. */
export const triedMinors = ['4.0', '4.4', '4.5', '4.8'] as const;

/** The project's copy of the package, or a message explaining why it cannot be used. */
export type Copy = { readonly version: string } | { readonly refused: string };

/** Whether the package.json of a project lists the published SDK as a dependency. */
export function dependsOnPublished(projectDir: string): boolean {
  const file = join(projectDir, 'package.json');
  if (!existsSync(file)) return false;
  try {
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object | undefined>;
    return ['dependencies', 'devDependencies', 'peerDependencies'].some(
      (list) => manifest[list] !== undefined && publishedName in manifest[list],
    );
  } catch {
    return false;
  }
}

/** The project's own copy: in its `node_modules`, or in those of a folder above it. */
export function findCopy(projectDir: string): Copy {
  let manifest: string;
  try {
    manifest = createRequire(join(projectDir, 'package.json')).resolve(`${publishedName}/package.json`);
  } catch {
    return { refused: `${publishedName} is not installed: run \`npm install\`` };
  }
  const { version = '' } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string };
  const major = semver.parse(version)?.major;
  if (major === 4) return { version };
  const which = `${publishedName} ${version} is installed`;
  return major !== undefined && major < 4
    ? { refused: `${which}, and tasks of 4.0 or later run here: run \`npm install ${publishedName}@4\`` }
    : { refused: `${which}, and tasks of 4.x run here: run \`npm install ${publishedName}@4\`` };
}
