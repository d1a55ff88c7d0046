import { fileURLToPath } from 'node:url';

const below = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The project whose tasks the load triggers. */
export const projectFolder = below('project');
export const clientFile = below('load/client.ts');
export const delayFile = below('system/delay-process.ts');
export const suiteFile = below('suite.ts');
export const millrace = below('../packages/millrace/bin/millrace.js');
