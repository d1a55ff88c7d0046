import { createHash } from 'node:crypto';
import type { Bundle, TaskManifest } from '@millrace/contract/runner';

/**
 * Digest of everything that affects how a version's runs execute: files, layers, settings and tasks. The order of keys and files and the
 * compression of files make no difference.
 */
export function contentHashOf(bundle: Bundle, tasks: readonly TaskManifest[]): string {
  const { files, layers, entries, requires, ...rest } = bundle;
  const content = {
    ...rest,
    files: files.map(({ path, digest }) => `${path} ${digest}`).toSorted(),
    layers: layers.map(({ platform, digest }) => `${platform} ${digest}`).toSorted(),
    entries: entries.map(({ source, module }) => `${source} ${module}`).toSorted(),
    requires: requires.toSorted(),
    manifests: tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  };
  return createHash('sha256').update(JSON.stringify(content, sortedKeys)).digest('hex');
}

const sortedKeys = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
