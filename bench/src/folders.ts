import { fileURLToPath } from 'node:url';

const inBench = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

export const dataFolder = inBench('.data');
export const resultsFolder = inBench('results');
export const profilesFolder = inBench('profiles');
export const projectFolder = inBench('project');
export const command = inBench('../packages/millrace/bin/millrace.js');
export const source = (file: string): string => inBench(`src/${file}`);
