import { z } from 'zod';

/** The kinds of records, each in files of its own, so that all records of a file have the same columns. */
export const pageKinds = ['runs', 'attempts', 'steps', 'logs', 'spans'] as const;
export const recordKinds = [...pageKinds, 'packets'] as const;
export type RecordKind = (typeof recordKinds)[number];

const file = z.object({
  name: z.string(),
  kind: z.enum(recordKinds),
  records: z.number().int(),
  /** Size of the file. */
  bytes: z.number().int(),
  /** SHA-256 of the file, in hexadecimal digits. */
  sha256: z.string(),
});
export type ArchivedFile = z.infer<typeof file>;

const part = z.object({
  runs: z.number().int(),
  files: z.array(file),
  /** The erasure that removes its runs from the server, after the whole archive was verified. */
  erasure: z.string().optional(),
});
export type ArchivePart = z.infer<typeof part>;

/** Describes an archive, and how far it has come. Stored after each part, so that an interrupted archive continues. */
export const manifest = z.object({
  format: z.literal('millrace-runs'),
  version: z.literal(1),
  /** Project and environment of the runs. */
  source: z.string(),
  /** In the format of the API. */
  filter: z.record(z.string(), z.unknown()),
  gzip: z.boolean(),
  startedAt: z.iso.datetime(),
  completedAt: z.iso.datetime().optional(),
  /** Where the next part begins. */
  next: z.string().optional(),
  parts: z.array(part),
});
export type Manifest = z.infer<typeof manifest>;

export const manifestName = 'manifest.json';
