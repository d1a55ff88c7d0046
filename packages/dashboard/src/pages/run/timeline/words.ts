import type { AttemptStatus, StepKind } from '@millrace/contract';

/** Display names of attempt statuses. */
export const attemptWords: Readonly<Record<AttemptStatus, string>> = {
  EXECUTING: 'Running',
  WAITING: 'Waiting',
  COMPLETED: 'Completed',
  CANCELED: 'Canceled',
  CRASHED: 'Crashed',
  SYSTEM_FAILURE: 'System failure',
  TIMED_OUT: 'Timed out',
  FAILED: 'Failed',
  LOST: 'Runner lost',
  RETURNED: 'Returned to the queue',
  DETACHED: 'Suspended',
};

/** Display names of step kinds. */
export const stepWords: Readonly<Record<StepKind, string>> = {
  RUN: 'Code',
  SLEEP: 'Sleep',
  EVENT: 'Wait for an event',
  TRIGGER: 'Trigger',
  TRIGGER_AND_WAIT: 'Trigger and wait',
};
