import { relative } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import type { Bundle } from '@millrace/contract/runner';
import { LRUCache } from 'lru-cache';
import type { Environment } from '../../../auth/principal.ts';
import type { Sql } from '../../../db/connect.ts';
import { BlobGone } from '../../blobs/read.ts';
import { retrieveBlob, whyNotFetchable } from '../bundle.ts';
import { tryParse } from '../../../json/foreign.ts';
import type { FoundVersion } from '../find.ts';
import type { BlobStore } from '../../store/store.ts';
import { localMaps, readLocalMap, type FindLocalBuild } from './local.ts';

const mib = 1_048_576;
/** Limits for sources, names and the like, because strings make up nearly all of a map. */
const mapLimits = { maxDepth: 16, maxMembers: 200_000 };
/** Maximum unpacked size. A larger map is not read, because parsing it would delay other requests. */
export const maxMapBytes = 16 * mib;
/** Maximum characters of sources that are kept in memory. */
const maxTextCharacters = 32 * mib;
/**
 * Maximum characters of source names that are kept in memory, so that a file that is in none of the maps is not searched for in all of them
 * again.
 */
const maxNameCharacters = 4 * mib;

/** A source map of a version. */
export interface MapFile {
  /** The path relative to the project. */
  readonly path: string;
  /** Unpacked size in bytes. */
  readonly size: number;
  /** Digest of its content. */
  readonly key: string;
  readonly read: () => Promise<string>;
}

/** The source maps of a version, which never change. */
export interface VersionMaps {
  /** The prefix of paths in the version's stack traces before the path relative to the project, or the end of that prefix. */
  readonly folder: string;
  readonly maps: readonly MapFile[];
}

interface Parsed {
  readonly names: readonly string[];
  /** Null for a source whose text the map does not have. */
  readonly texts: readonly (string | null)[];
}

export interface SourceMaps {
  /** The maps of a version, or the reason why there are none. */
  of(environment: Environment, version: FoundVersion): Promise<VersionMaps | { readonly reason: string }>;
  /** The source names of a map, unchanged. */
  names(map: MapFile): Promise<readonly string[]>;
  /** The text of one source; null if the map does not have it. */
  text(map: MapFile, index: number): Promise<string | null>;
}

export interface SourceMapDependencies {
  readonly sql: Sql;
  readonly store?: BlobStore | undefined;
  readonly localBuild?: FindLocalBuild | undefined;
}

/** Reads the source maps of versions. Content is cached by its digest, which versions share. */
export function sourceMaps(dependencies: SourceMapDependencies): SourceMaps {
  const versions = new LRUCache<number, VersionMaps>({ max: 200 });
  const names = new LRUCache<string, readonly string[]>({
    maxSize: maxNameCharacters,
    sizeCalculation: (some) => some.reduce((sum, name) => sum + name.length, 1),
  });
  const parsed = new LRUCache<string, Parsed>({
    maxSize: maxTextCharacters,
    sizeCalculation: ({ texts }) => texts.reduce((sum, text) => sum + (text?.length ?? 0), 1),
  });
  /** One map at a time, because each uses memory and blocks the process while it is parsed. */
  let turn: Promise<unknown> = Promise.resolve();

  const parse = (map: MapFile): Promise<Parsed> => {
    const result = turn.then(async () => {
      // An earlier caller may have read it.
      const known = parsed.get(map.key);
      if (known) return known;
      const found = parsedMap(await map.read());
      parsed.set(map.key, found);
      names.set(map.key, found.names);
      return found;
    });
    turn = result.catch(() => undefined);
    return result;
  };

  return {
    async of(environment, version) {
      const known = version.state === 'ready' ? versions.get(version.id) : undefined;
      if (known) return known;
      const found = version.isUploaded
        ? await uploadedMaps(dependencies, environment, version)
        : await mapsOnDisk(dependencies, environment, version);
      const reason = found ? undefined : whyNotFetchable(version);
      if (!found || found.maps.length === 0)
        return { reason: reason ?? `Version ${version.version} has no source maps.` };
      versions.set(version.id, found);
      return found;
    },

    names: async (map) => names.get(map.key) ?? (await parse(map)).names,

    text: async (map, index) => (parsed.get(map.key) ?? (await parse(map))).texts[index] ?? null,
  };
}

async function uploadedMaps(
  dependencies: SourceMapDependencies,
  environment: Environment,
  version: FoundVersion,
): Promise<VersionMaps | undefined> {
  if (version.state !== 'ready') return undefined;
  const [row] = await dependencies.sql<{ contentHash: string; files: Bundle['files'] }[]>`
    select content_hash as "contentHash", bundle->'files' as files from versions where id = ${version.id}`;
  if (!row) return undefined;
  const maps = row.files.filter(({ path }) => /\.[cm]?js\.map$/.test(path));
  return {
    // A runner unpacks a version into a folder named after its content hash.
    folder: `/${row.contentHash}/`,
    maps: maps.map(({ path, blob, size }) => ({
      path,
      size,
      key: `${environment.projectId}/${blob}`,
      read: () => readUploaded(dependencies, environment, version.version, blob),
    })),
  };
}

async function readUploaded(
  stored: SourceMapDependencies,
  environment: Environment,
  version: string,
  blob: string,
  tries = 2,
): Promise<string> {
  try {
    const { read } = await retrieveBlob(stored, environment, version, blob);
    const packed = Readable.from(await read(0));
    const unpacked = createGunzip();
    packed.on('error', (error) => unpacked.destroy(error));
    return (await buffer(packed.pipe(unpacked))).toString();
  } catch (error) {
    // It has been moved to the store in the meantime.
    if (error instanceof BlobGone && tries > 1)
      return readUploaded(stored, environment, version, blob, tries - 1);
    throw error;
  }
}

async function mapsOnDisk(
  { localBuild }: SourceMapDependencies,
  environment: Environment,
  { version }: FoundVersion,
): Promise<VersionMaps | undefined> {
  const build = await localBuild?.(environment, version);
  if (!build) return undefined;
  const { dir, projectDir } = build;
  const folder = relative(projectDir, dir).replaceAll('\\', '/');
  const maps = await localMaps(dir);
  return {
    folder: `${projectDir.replaceAll('\\', '/')}/`,
    maps: maps.map(({ path, size }) => ({
      path: `${folder}/${path}`,
      size,
      key: `${dir}/${path}`,
      read: () => readLocalMap(dir, path),
    })),
  };
}

/** A project may deploy any file under such a name; a file that is not a map has no sources. */
function parsedMap(text: string): Parsed {
  const { sources, sourcesContent } = Object(tryParse(text, mapLimits)) as {
    sources?: unknown;
    sourcesContent?: unknown;
  };
  if (!Array.isArray(sources)) return { names: [], texts: [] };
  const texts = Array.isArray(sourcesContent) ? (sourcesContent as unknown[]) : [];
  return {
    names: sources.map((name) => (typeof name === 'string' ? name : '')),
    texts: sources.map((_, index) => {
      const content = texts[index];
      return typeof content === 'string' ? content : null;
    }),
  };
}
