export { newestBackup, readBackups } from './backup-folder.ts';
export type { Manifest } from './manifest.ts';
export { prune } from './prune.ts';
export { restore } from './restore.ts';
export { takeBackup } from './take.ts';
