import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ArchivePage } from '@millrace/contract';
import { parsePeriodMs } from '@millrace/contract/plain';
import type { EnvironmentClient } from '../api/environment-client.ts';
import { digestOf } from './digest.ts';
import { manifest, manifestName, pageKinds, type Manifest } from './manifest.ts';
import { PartWriter } from './part-writer.ts';
import type { ArchiveStore } from './store.ts';
import { verifyPart } from './verify.ts';

/** Runs of a part: as many as one erasure accepts, minus a page. */
const maxRuns = 9_800;
/** Characters of a part, before compression; its last page may exceed this. */
const maxCharacters = 67_108_864;

export interface ArchiveTask {
  readonly client: EnvironmentClient;
  readonly store: ArchiveStore;
  /** Project and environment. */
  readonly source: string;
  readonly filter: Readonly<Record<string, unknown>>;
  readonly gzip: boolean;
  readonly onProgress: (manifest: Manifest) => void;
}

/** The target holds another archive. */
export class ArchiveTaken extends Error {
  override readonly name = 'ArchiveTaken';
}

/** Writes the manifest. */
export type SaveManifest = (state: Manifest) => Promise<void>;

/**
 * Archives the selected runs that have ended, part by part, and verifies them. An interrupted archive continues after its last part. Calls
 * `then` with the verified archive.
 */
export async function archiveRuns<T>(
  task: ArchiveTask,
  then: (state: Manifest, save: SaveManifest) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-archive-'));
  const save: SaveManifest = async (state) => {
    const path = join(folder, manifestName);
    await writeFile(path, `${JSON.stringify(state, undefined, 2)}\n`);
    const { size, sha256 } = await digestOf(path);
    await task.store.put(manifestName, path, size, sha256);
  };
  try {
    let state = await begin(task);
    await save(state);
    while (state.completedAt === undefined) {
      state = await addPart(task, state, folder);
      await save(state);
      task.onProgress(state);
    }
    for (const part of state.parts) await verifyPart(task.store, part);
    return await then(state, save);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A new manifest, or that of the interrupted archive. */
async function begin({ store, source, filter, gzip }: ArchiveTask): Promise<Manifest> {
  if (!(await store.has(manifestName))) {
    const startedAt = new Date().toISOString();
    return { format: 'millrace-runs', version: 1, source, filter: { ...filter }, gzip, startedAt, parts: [] };
  }
  const parts: Buffer[] = [];
  for await (const data of await store.read(manifestName)) parts.push(data);
  const read = manifest.safeParse(tryParse(Buffer.concat(parts).toString('utf8')));
  if (!read.success)
    throw new ArchiveTaken(
      `${store.name}: ${manifestName} is not the manifest of an archive of runs. Use another target.`,
    );
  const same =
    JSON.stringify([source, filter, gzip]) ===
    JSON.stringify([read.data.source, read.data.filter, read.data.gzip]);
  if (!same) {
    throw new ArchiveTaken(
      `${store.name} holds an archive of other runs (${read.data.source}, filter ${JSON.stringify(read.data.filter)}). Use another target.`,
    );
  }
  return read.data;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

async function addPart(task: ArchiveTask, state: Manifest, folder: string): Promise<Manifest> {
  const writer = new PartWriter(folder, { number: state.parts.length + 1, gzip: state.gzip });
  let { next } = state;
  let isOver = false;
  while (!isOver && writer.runs < maxRuns && writer.characters < maxCharacters) {
    const page: ArchivePage = await task.client.call('readRunArchive', {
      body: { filter: effective(state), ...(next !== undefined && { after: next }) },
    });
    await writePage(task.client, writer, page);
    ({ next } = page);
    isOver = next === undefined;
  }
  const part = await writer.store(task.store);
  return {
    ...state,
    next,
    parts: part.files.length > 0 ? [...state.parts, part] : state.parts,
    ...(isOver && { completedAt: new Date().toISOString() }),
  };
}

/**
 * The filter with a fixed range. Runs created after the archive began are left for another one; otherwise it might never end, and a period
 * would select other runs after an interruption.
 */
function effective({ filter, startedAt }: Manifest): Record<string, unknown> {
  const { period, from, to, ...others } = filter;
  const start = new Date(startedAt).getTime();
  const periodMs = typeof period === 'string' ? parsePeriodMs(period) : undefined;
  if (periodMs !== undefined) return { ...others, from: start - periodMs, to: start };
  const end = to === undefined ? start : Math.min(start, new Date(to as string | number).getTime());
  return { ...others, ...(from !== undefined && { from }), to: end };
}

async function writePage(client: EnvironmentClient, writer: PartWriter, page: ArchivePage): Promise<void> {
  for (const kind of pageKinds) await writer.write(kind, page[kind]);
  for (const name of page.packets) {
    const { presignedUrl } = await client.call('retrievePacketV2', { params: { packet: name } });
    const { text, type } = await client.content(presignedUrl);
    await writer.write('packets', [{ name, content_type: type, content: text }]);
  }
}
