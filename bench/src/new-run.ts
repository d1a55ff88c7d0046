import { newTimedId } from '../../packages/server/src/db/ids.ts';
import { plainOptions, type NewRun } from '../../packages/server/src/runs/create/row.ts';

/** A run of environment 1 without options. */
export const newRun = ({
  now,
  ...fields
}: Pick<NewRun, 'task' | 'queueId' | 'payload'> & Partial<NewRun> & { readonly now: number }): NewRun => ({
  ...plainOptions(),
  env: 1,
  id: newTimedId('run', now),
  state: 'queued',
  concurrencyKey: '',
  pinnedVersion: 0,
  sortKey: now,
  payloadType: null,
  expiresAt: null,
  ttl: null,
  due: null,
  idempotencyKey: null,
  idempotencyExpiresAt: null,
  idempotencyOptions: null,
  tags: [],
  metadata: null,
  maxDuration: null,
  priorityMs: 0,
  isTest: false,
  parentId: null,
  rootId: null,
  depth: 0,
  ...fields,
});
