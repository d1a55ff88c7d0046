import { execFileSync } from 'node:child_process';

/** The reason why a test with a small disk is skipped. */
export const needsMount = 'needs the right to mount a file system';

/**
 * Mounts a file system in memory on a folder, with mount options such as `size=1m`. Returns a function that unmounts it; undefined if this
 * process may not mount file systems.
 */
export function mountSmallDisk(folder: string, options: string): (() => void) | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return () => void execFileSync('umount', ['-l', folder]);
}
