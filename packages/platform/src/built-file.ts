import { join } from 'node:path';
import { packageFolder } from './package-folder.ts';

/**
 * The built file of a program of `millrace` that a process of its own runs, such as `executor/main.js`. Old Node.js versions cannot run
 * TypeScript, so tests use the built file too.
 */
export const builtFile = (path: string): string => join(packageFolder, 'dist', path);
