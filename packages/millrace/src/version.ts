import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from './platform/package-folder.ts';

/** The version of this package. */
export const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
  version: string;
};
