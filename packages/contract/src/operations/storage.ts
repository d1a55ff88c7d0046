import { z } from 'zod';
import { operation } from '../operation.ts';

/** Classes of data. `waiting`: what is waited in and for. `other`: organisations, projects, keys, variables, settings. */
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
  /** The largest first. */
  data: z.array(
    z.object({
      class: z.enum(storageClasses),
      /** On disk, with indexes and what is free in the files. */
      bytes: z.number().int(),
      /** As the database's statistics say: they may be some minutes old. */
      rowsEstimate: z.number().int(),
      /** The largest first. */
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
  summary: 'What each class of data of the whole installation takes on disk',
  access: { personalAccessToken: true, installation: true },
  reply: storageUse,
});
