import type { Bundle, TaskManifest } from '@millrace/contract/runner';
import { Problem, unprocessable } from '../../problem.ts';

const mib = 1_048_576;
/** Maximum total size of a deployment's blobs, compressed. */
export const defaultMaxBundleBytes = 64 * mib;
/** Maximum ratio of content to stored bytes, so that decompression bombs are rejected. */
const maxRatio = 32;

/** Throws 422 for a bundle that is inconsistent, or does not have the declared tasks. */
export function checkBundle(bundle: Bundle, tasks: readonly TaskManifest[]): void {
  const paths = new Set<string>();
  for (const { path } of bundle.files) {
    if (paths.has(path)) throw unprocessable(`bundle.files: duplicate path "${path}".`);
    paths.add(path);
    if (path === 'node_modules' || path.startsWith('node_modules/')) {
      throw unprocessable(`bundle.files: "${path}": node_modules is reserved for the layer of the bundle.`);
    }
  }
  for (const path of paths) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (paths.has(path.slice(0, end)))
        throw unprocessable(`bundle.files: "${path.slice(0, end)}" is a file and the folder of "${path}".`);
    }
  }
  if (!paths.has(bundle.sdk))
    throw unprocessable(`bundle.sdk: the file "${bundle.sdk}" is missing from bundle.files.`);
  const sources = new Set<string>();
  for (const { source, module } of bundle.entries) {
    if (!paths.has(module))
      throw unprocessable(`bundle.entries: the file "${module}" is missing from bundle.files.`);
    sources.add(source);
  }
  checkTasks(bundle, tasks, sources);
  const platforms = bundle.layers.map(({ platform }) => platform);
  const twice = platforms.find((platform, index) => platforms.indexOf(platform) !== index);
  if (twice !== undefined) throw unprocessable(`bundle.layers: more than one layer for ${twice}.`);
}

function checkTasks(bundle: Bundle, tasks: readonly TaskManifest[], sources: ReadonlySet<string>): void {
  const declared = new Set(tasks.map(({ id }) => id));
  for (const { id } of tasks) {
    const served = Object.hasOwn(bundle.tasks, id) ? bundle.tasks[id] : undefined;
    if (!served) throw unprocessable(`bundle.tasks: the task "${id}" is missing.`);
    if (!sources.has(served.source))
      throw unprocessable(
        `bundle.tasks: "${id}" is in "${served.source}", which is missing from bundle.entries.`,
      );
  }
  const other = Object.keys(bundle.tasks).find((id) => !declared.has(id));
  if (other !== undefined) throw unprocessable(`bundle.tasks: "${other}" is not a task of the deployment.`);
}

/** The declared content of one blob. */
export interface DeclaredBlob {
  readonly blob: string;
  readonly blobSize: number;
  readonly digest: string;
  readonly size: number;
}

/**
 * The contents of a bundle, without duplicates. 422 if it contains contradictory declarations of the same content, 413 if the total is too
 * large.
 */
export function contentsOf(bundle: Bundle, maxBytes: number): DeclaredBlob[] {
  const byDigest = new Map<string, DeclaredBlob>();
  const byBlob = new Map<string, DeclaredBlob>();
  for (const content of [...bundle.files, ...bundle.layers]) {
    const known = byDigest.get(content.digest) ?? byBlob.get(content.blob);
    if (!known) {
      byDigest.set(content.digest, content);
      byBlob.set(content.blob, content);
    } else if (
      known.digest !== content.digest ||
      known.blob !== content.blob ||
      known.size !== content.size ||
      known.blobSize !== content.blobSize
    ) {
      throw unprocessable(
        `bundle: the content ${content.digest} is declared twice, with different sizes or blobs. Declare it the same each time.`,
      );
    }
  }
  const contents = [...byDigest.values()];
  const bytes = contents.reduce((sum, { blobSize }) => sum + blobSize, 0);
  if (bytes > maxBytes) {
    throw new Problem(
      'too_large',
      `The files and layers of this deployment have ${mibOf(bytes)} MiB compressed; at most ${mibOf(maxBytes)} MiB are allowed. ` +
        'Exclude files, or raise MILLRACE_MAX_BUNDLE on the server.',
    );
  }
  const unpacked = contents.reduce((sum, { size }) => sum + size, 0);
  if (unpacked > maxBytes * maxRatio) {
    throw new Problem(
      'too_large',
      `The files and layers of this deployment have ${mibOf(unpacked)} MiB unpacked; at most ${mibOf(maxBytes * maxRatio)} MiB are allowed.`,
    );
  }
  return contents;
}

export const bytesOf = (contents: readonly DeclaredBlob[]): number =>
  contents.reduce((sum, { blobSize }) => sum + blobSize, 0);

const mibOf = (bytes: number): string => (bytes / mib).toFixed(1);
