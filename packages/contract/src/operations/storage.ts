import { z } from 'zod';
import { operation } from '../operation.ts';

/** Classes of data. `waiting`: waits and their targets. `other`: organizations, projects, keys, variables, settings. */
export const storageClasses = [
  'runs',
  'waiting',
  'logs',
  'spans',
  'batches',
  'packets',
  'errors',
  'schedules',
  'events',
  'notifications',
  'sessions',
  'deployments',
  'statistics',
  'audit',
  'other',
] as const;
export type StorageClass = (typeof storageClasses)[number];

export const storageUse = z.object({
  /** Largest first. */
  data: z.array(
    z.object({
      class: z.enum(storageClasses),
      /** Size on disk, including indexes and free space in the files. */
      bytes: z.number().int(),
      /** From the database's statistics, which may be some minutes old. */
      rowsEstimate: z.number().int(),
      /** Largest first. */
      tables: z.array(z.object({ name: z.string(), bytes: z.number().int() })),
    }),
  ),
  totalBytes: z.number().int(),
});
export type StorageUse = z.infer<typeof storageUse>;

export const retrieveStorage = operation({
  id: 'retrieveStorage',
  method: 'GET',
  path: '/api/v1/storage',
  tag: 'installation',
  summary: 'Retrieve the disk usage of the installation by data class',
  access: { personalAccessToken: true, installation: true },
  reply: storageUse,
});
