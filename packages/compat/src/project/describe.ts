import semver from 'semver';
import { publishedName, triedMinors } from './copy.ts';

/** A human-readable line about the copy of the published SDK that a project has. */
export function describeCopy(version: string, configFile: string | null): string {
  const minor = `${semver.major(version)}.${semver.minor(version)}`;
  const tried = (triedMinors as readonly string[]).includes(minor);
  const where = configFile === null ? '' : `, ${configFile}`;
  return `tasks of ${publishedName} ${version} run here${where}${tried ? '' : ` (tested: ${triedMinors.join(', ')})`}`;
}
