import { join } from 'node:path';
import { packageFolder } from './package-folder.ts';

/**
 * The built file of a `millrace` program that runs in its own process, such as `executor/main.js`. Old Node.js versions cannot run TypeScript,
 * so tests use the built file too.
 */
export const builtFile = (path: string): string => join(packageFolder, 'dist', path);
