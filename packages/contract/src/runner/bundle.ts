import { z } from 'zod';
import { machinePresets, retryPolicy } from './manifest.ts';
import { publishedSettings } from './published.ts';

/** A SHA-256 digest in lowercase hexadecimal. */
export const digest = z.string().regex(/^[0-9a-f]{64}$/, 'not a SHA-256 digest in lower-case hexadecimal');

/** `linux-x64-glibc`, `darwin-arm64`: operating system, processor and, on Linux, C library. */
export const platform = z
  .string()
  .regex(
    /^(?:linux-(?:x64|arm64)-(?:glibc|musl)|(?:darwin|win32)-(?:x64|arm64))$/,
    'not a platform, such as linux-x64-glibc or darwin-arm64',
  );

/** A path inside a bundle: parts with single slashes between them, none of them `.` or `..`. */
export const bundlePath = z
  .string()
  .min(1)
  .max(1_024)
  .refine(
    // Matching control characters is intended here.
    (text) => text.isWellFormed() && !/[\u0000-\u001f\u007f\\]/.test(text),
    'must not contain control characters or backslashes',
  )
  .refine(
    (text) => text.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'must stay inside the bundle: parts with single slashes between them, none of them . or ..',
  );

/** Content that is uploaded once per project, regardless of the number of versions that use it. */
const content = {
  /** SHA-256 of the content. */
  digest,
  /** Size of the content in bytes. */
  size: z.number().int().min(0),
  /** SHA-256 of the content as sent and stored, compressed with gzip. */
  blob: digest,
  /** Size in bytes as sent and stored. */
  blobSize: z.number().int().min(1),
};

export const bundleFile = z.object({ path: bundlePath, ...content });
export type BundleFile = z.infer<typeof bundleFile>;

/** Packages that cannot be bundled, installed for one platform: a tar archive with `node_modules` at its root. */
export const bundleLayer = z.object({ platform, ...content });
export type BundleLayer = z.infer<typeof bundleLayer>;

/** The properties of a task that a runner needs to place its attempts. */
export const servedTask = z.object({
  /** The task file that exports it, relative to the project. */
  source: z.string(),
  /** Where it is declared. Default: `source`. */
  filePath: z.string().optional(),
  /** Whether each of its runs gets its own process. */
  isolated: z.boolean(),
  /** The machine whose memory its own process gets; null for a shared process. */
  machine: z.enum(machinePresets).nullable(),
  /** Maximum duration in seconds. */
  maxDuration: z.number().nullable(),
  /** Set if it requests a different machine when it runs out of memory. */
  retry: retryPolicy.optional(),
});

/** The code of a version, as uploaded and as fetched by a runner. */
export const bundle = z.object({
  /** The task files and their modules. */
  entries: z.array(z.object({ source: z.string(), module: bundlePath })).max(10_000),
  /** The module that exports `@millrace/sdk/executor` of the SDK that the tasks import. */
  sdk: bundlePath,
  /** Settings for tasks that have none of their own. */
  defaults: z.object({
    retry: retryPolicy.optional(),
    maxDuration: z.number().optional(),
    /** Only for a project with tasks of the published SDK. */
    published: publishedSettings.optional(),
    /** The file with the codec of the project; one of the entries. */
    codec: z.string().optional(),
    /** Files that every process imports, in this order, before the files with its tasks. */
    preloads: z.array(z.string()).optional(),
  }),
  /** Tasks by id. */
  tasks: z.record(z.string(), servedTask),
  files: z.array(bundleFile).min(1).max(20_000),
  /** At most one for each platform. Without layers, the bundle runs anywhere. */
  layers: z.array(bundleLayer).max(16),
  /** The minimum major version of Node.js. */
  nodeMajor: z.number().int().min(20).max(1_000),
  /** Labels that a runner must have (`millrace work --label`). */
  requires: z.array(z.string().min(1).max(64)).max(32).default([]),
});
export type Bundle = z.infer<typeof bundle>;

/** Maximum size of a piece of a blob in bytes, as stored by the server. */
export const maxPieceBytes = 1_048_576;
