import { linesAround, maxSourceLine, type SourceLines } from '@millrace/contract';
import type { Environment } from '../../../auth/principal.ts';
import type { Queryable } from '../../../db/connect.ts';
import { findVersion } from '../find.ts';
import { maxMapBytes, type MapFile, type SourceMaps } from './maps.ts';
import { requestedFile, matchOf, pathOfSource, type RequestedFile } from './requested-file.ts';

/** Maximum unpacked bytes of one version's maps that are searched. */
const maxSearchedBytes = 64 * 1_048_576;

interface Position {
  readonly file: string;
  readonly line: number;
}

/**
 * The lines around a position in the source of a version. They come from its source maps, so a file that is in none of them cannot be read.
 * 404 for an unknown version. Without lines, the reply contains the reason.
 */
export async function retrieveSource(
  { sql, maps }: { readonly sql: Queryable; readonly maps: SourceMaps },
  environment: Environment,
  idOrVersion: string,
  { file, line }: Position,
): Promise<SourceLines> {
  const found = await findVersion(sql, environment.id, idOrVersion);
  const { version } = found;
  const none = (note: string): SourceLines => ({ version, file: null, lines: [], note });
  const ofVersion = await maps.of(environment, found);
  if ('reason' in ofVersion) return none(ofVersion.reason);

  const requested = requestedFile(file, ofVersion.folder);
  const searched = searchedMaps(ofVersion.maps, requested);
  const source = await findSource(maps, searched, requested);
  if (!source) {
    const where = searched.length === ofVersion.maps.length ? '' : ' that is small enough to search';
    return none(`No source map of version ${version}${where} contains this file.`);
  }
  const text = await maps.text(source.map, source.index);
  if (text === null)
    return none(`The source map of version ${version} contains the name of this file, but not its text.`);
  const all = text.split('\n');
  if (line > all.length) return none(`In version ${version} this file has ${all.length} lines.`);
  const first = Math.max(1, line - linesAround);
  const lines = all.slice(first - 1, line + linesAround);
  return {
    version,
    file: source.path,
    lines: lines.map((content, index) => ({ number: first + index, text: shownLine(content) })),
    note: null,
  };
}

interface Source {
  readonly map: MapFile;
  readonly index: number;
  readonly path: string;
}

async function findSource(
  maps: SourceMaps,
  searched: readonly MapFile[],
  requested: RequestedFile,
): Promise<Source | undefined> {
  let best: Source | undefined;
  let bestMatch = 0;
  for (const map of searched) {
    for (const [index, name] of (await maps.names(map)).entries()) {
      const path = pathOfSource(map.path, name);
      const match = matchOf(path, requested);
      if (match > bestMatch) [bestMatch, best] = [match, { map, index, path }];
    }
    // For a file outside the project, another source may match better.
    if (best && !requested.isOutside) break;
  }
  return best;
}

/** First the map of the module with the same name as the file, then the small ones, which contain most files of a project. */
function searchedMaps(maps: readonly MapFile[], { path }: RequestedFile): MapFile[] {
  const stem = path.replace(/\.[^./]+$/, '');
  const isOwn = (map: MapFile): boolean => map.path.replace(/\.[cm]?js\.map$/, '').endsWith(stem);
  const sorted = maps.toSorted((a, b) => Number(isOwn(b)) - Number(isOwn(a)) || a.size - b.size);
  let bytes = 0;
  return sorted.filter(({ size }) => {
    if (size > maxMapBytes || bytes + size > maxSearchedBytes) return false;
    bytes += size;
    return true;
  });
}

function shownLine(line: string): string {
  const text = line.replace(/\r$/, '');
  return text.length > maxSourceLine
    ? `${text.slice(0, maxSourceLine).toWellFormed()}…`
    : text.toWellFormed();
}
