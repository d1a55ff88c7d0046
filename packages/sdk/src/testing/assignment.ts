import type { Assignment, EnvironmentInfo } from '@millrace/contract/runner';

export const environment: EnvironmentInfo = {
  id: 'env_1',
  slug: 'prod',
  kind: 'prod',
  branch: null,
  projectRef: 'proj_abc',
  projectName: 'Shop',
  organizationId: 'org_1',
  organizationName: 'Acme',
};

/** An assignment of the task `charge`, first attempt, no payload. */
export const assignmentOf = (changes: Partial<Assignment> = {}): Assignment => ({
  run: 'run_1',
  fence: 1,
  attempt: 1,
  task: 'charge',
  version: '20261121.1',
  payload: null,
  payloadType: 'application/json',
  metadata: null,
  tags: ['vip'],
  isTest: false,
  queue: 'task/charge',
  concurrencyKey: null,
  maxAttempts: null,
  maxDuration: null,
  machine: null,
  priority: 0,
  createdAt: 1_700_000_000_000,
  parentRun: null,
  rootRun: null,
  batch: null,
  schedule: null,
  ...changes,
});
