import { posix } from 'node:path';

/** A file of a version, as a caller named it. */
export interface AskedFile {
  readonly path: string;
  /**
   * It is outside of the folder that the version is in, such as a package of the same workspace. Where that folder was is not known, so
   * only the ends of paths are compared.
   */
  readonly isOutside: boolean;
}

/** A path of a stack trace, or one relative to the project. `folder` is what paths of the version have before that, as far as it is known. */
export function askedFile(file: string, folder: string): AskedFile {
  const path = withoutScheme(file).replaceAll('\\', '/');
  const at = path.lastIndexOf(folder);
  if (at !== -1) return { path: path.slice(at + folder.length), isOutside: false };
  return { path, isOutside: /^(?:\/|[A-Za-z]:\/)/.test(path) };
}

function withoutScheme(file: string): string {
  if (!file.startsWith('file://')) return file;
  const path = file.slice('file://'.length);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The path of a source relative to the project, from that of its map and its name in there. */
export const pathOfSource = (map: string, source: string): string => posix.join(posix.dirname(map), source);

/**
 * How well a source matches: 0 for not at all, more for the better one.
 *
 * @example
 * matchOf('../../lib/a.ts', { path: '/home/ci/repo/lib/a.ts', isOutside: true }); // 8
 */
export function matchOf(source: string, { path, isOutside }: AskedFile): number {
  if (!isOutside) return source === path ? path.length : 0;
  if (!source.startsWith('../')) return 0;
  const end = source.replace(/^(?:\.\.\/)+/, '');
  return path.endsWith(`/${end}`) ? end.length : 0;
}
