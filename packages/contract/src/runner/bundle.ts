import { z } from 'zod';
import { machinePresets, retryPolicy } from './manifest.ts';
import { publishedSettings } from './published.ts';

/** A SHA-256 digest in lower-case hexadecimal. */
export const digest = z.string().regex(/^[0-9a-f]{64}$/, 'not a SHA-256 digest in lower-case hexadecimal');

/** `linux-x64-glibc`, `darwin-arm64`: operating system, processor and, on Linux, C library. */
export const platform = z
  .string()
  .regex(
    /^(?:linux-(?:x64|arm64)-(?:glibc|musl)|(?:darwin|win32)-(?:x64|arm64))$/,
    'not a platform, such as linux-x64-glibc or darwin-arm64',
  );

/** A path inside of a bundle: parts with single slashes between them, none of them `.` or `..`. */
export const bundlePath = z
  .string()
  .min(1)
  .max(1_024)
  .refine(
    // Control characters are what is refused.
    (text) => text.isWellFormed() && !/[\u0000-\u001f\u007f\\]/.test(text),
    'must not contain control characters or backslashes',
  )
  .refine(
    (text) => text.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'must stay inside of the bundle: parts with single slashes between them, none of them . or ..',
  );

/** Content that is uploaded once for a project, whatever number of versions use it. */
const content = {
  /** SHA-256 of the content. */
  digest,
  /** Bytes of the content. */
  size: z.number().int().min(0),
  /** SHA-256 of the content as it is sent and stored, compressed with gzip. */
  blob: digest,
  /** Bytes as it is sent and stored. */
  blobSize: z.number().int().min(1),
};

export const bundleFile = z.object({ path: bundlePath, ...content });
export type BundleFile = z.infer<typeof bundleFile>;

/** Packages that cannot be bundled, installed for one platform: a tar archive whose root has `node_modules`. */
export const bundleLayer = z.object({ platform, ...content });
export type BundleLayer = z.infer<typeof bundleLayer>;

/** What a runner needs to know of a task to place its attempts. */
export const servedTask = z.object({
  /** The task file that exports it, relative to the project. */
  source: z.string(),
  /** Where it is declared. Default: `source`. */
  filePath: z.string().optional(),
  /** Its runs get a process each. */
  isolated: z.boolean(),
  /** The same, with the memory of this machine. */
  machine: z.enum(machinePresets).nullable(),
  /** Seconds. */
  maxDuration: z.number().nullable(),
  /** If it asks for another machine when it runs out of memory. */
  retry: retryPolicy.optional(),
});

/** The code of a version, as it is uploaded and as a runner fetches it. */
export const bundle = z.object({
  /** The task files and their modules. */
  entries: z.array(z.object({ source: z.string(), module: bundlePath })).max(10_000),
  /** The module that exports `@millrace/sdk/executor` of the SDK that the tasks import. */
  sdk: bundlePath,
  /** What tasks without settings of their own get. */
  defaults: z.object({
    retry: retryPolicy.optional(),
    maxDuration: z.number().optional(),
    /** Of a project with tasks of the published SDK. */
    published: publishedSettings.optional(),
    /** The file with the codec of the project; one of the entries. */
    codec: z.string().optional(),
    /** Files that every process imports, in this order, before those with its tasks. */
    preloads: z.array(z.string()).optional(),
  }),
  /** By id. */
  tasks: z.record(z.string(), servedTask),
  files: z.array(bundleFile).min(1).max(20_000),
  /** At most one for each platform. Without layers, the bundle runs anywhere. */
  layers: z.array(bundleLayer).max(16),
  /** The major version of Node.js that it needs at least. */
  nodeMajor: z.number().int().min(20).max(1_000),
  /** Labels that a runner must have (`millrace work --label`). */
  requires: z.array(z.string().min(1).max(64)).max(32).default([]),
});
export type Bundle = z.infer<typeof bundle>;

/** Largest piece of a blob in bytes, as the server stores it. */
export const maxPieceBytes = 1_048_576;
