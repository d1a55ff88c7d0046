import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Body, Operations } from '@millrace/contract';

export type NewDeployment = Body<Operations['createDeployment']>;

export interface TestBundle {
  readonly body: NewDeployment;
  /** The uploaded blobs, by digest. */
  readonly blobs: ReadonlyMap<string, Buffer>;
}

export const sha256 = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex');

export interface BundleOptions {
  readonly tasks?: readonly string[];
  /** Contents of layers by platform. */
  readonly layers?: Readonly<Record<string, Buffer>>;
  /** The gzip level, so that the same content produces different blobs. */
  readonly level?: number;
  readonly more?: Partial<NewDeployment>;
  readonly bundle?: Partial<NewDeployment['bundle']>;
}

/** A deployment of these files, in the bundler's format. */
export function bundleOf(
  files: Readonly<Record<string, Buffer | string>>,
  { tasks = ['send'], layers = {}, level, more, bundle }: BundleOptions = {},
): TestBundle {
  const blobs = new Map<string, Buffer>();
  const contentOf = (content: Buffer | string) => {
    const compressed = gzipSync(content, level === undefined ? {} : { level });
    const blob = sha256(compressed);
    blobs.set(blob, compressed);
    return {
      digest: sha256(content),
      size: Buffer.byteLength(content),
      blob,
      blobSize: compressed.length,
    };
  };
  const all = { 'sdk.js': 'export const sdk = 1;', 'tasks.js': 'export {};', ...files };
  return {
    blobs,
    body: {
      bundle: {
        entries: [{ source: 'tasks.ts', module: 'tasks.js' }],
        sdk: 'sdk.js',
        defaults: {},
        tasks: Object.fromEntries(
          tasks.map((id) => [id, { source: 'tasks.ts', isolated: false, machine: null, maxDuration: null }]),
        ),
        files: Object.entries(all).map(([path, content]) => ({ path, ...contentOf(content) })),
        layers: Object.entries(layers).map(([platform, content]) => ({ platform, ...contentOf(content) })),
        nodeMajor: 22,
        requires: [],
        ...bundle,
      },
      tasks: tasks.map((id) => ({ id, filePath: 'tasks.ts' })),
      nodeVersion: '22.11.0',
      ...more,
    },
  };
}
