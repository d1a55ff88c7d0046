import { posix } from 'node:path';

/** A file of a version, as named by a caller. */
export interface RequestedFile {
  readonly path: string;
  /**
   * Whether it is outside the version's folder, for example in a package of the same workspace. The location of that folder is not known, so
   * only the ends of paths are compared.
   */
  readonly isOutside: boolean;
}

/** A path from a stack trace, or one relative to the project. `folder` is the prefix of the version's paths, if known. */
export function requestedFile(file: string, folder: string): RequestedFile {
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

/** The path of a source relative to the project, from the path of its map and its name in the map. */
export const pathOfSource = (map: string, source: string): string => posix.join(posix.dirname(map), source);

/**
 * How well a source matches: 0 for not at all, more for a better match.
 *
 * @example
 * matchOf('../../lib/a.ts', { path: '/home/ci/repo/lib/a.ts', isOutside: true }); // 8
 */
export function matchOf(source: string, { path, isOutside }: RequestedFile): number {
  if (!isOutside) return source === path ? path.length : 0;
  if (!source.startsWith('../')) return 0;
  const end = source.replace(/^(?:\.\.\/)+/, '');
  return path.endsWith(`/${end}`) ? end.length : 0;
}
