/**
 * The state machine of a run. Server code, documentation and model-based tests use this table. Names and transitions are those of
 * the public API, version 2025-07-16.
 */
export const runStatuses = [
  'PENDING_VERSION',
  'DELAYED',
  'QUEUED',
  'DEQUEUED',
  'EXECUTING',
  'WAITING',
  'COMPLETED',
  'CANCELED',
  'FAILED',
  'CRASHED',
  'SYSTEM_FAILURE',
  'EXPIRED',
  'TIMED_OUT',
] as const;

export type RunStatus = (typeof runStatuses)[number];

export const finalStatuses = [
  'COMPLETED',
  'CANCELED',
  'FAILED',
  'CRASHED',
  'SYSTEM_FAILURE',
  'EXPIRED',
  'TIMED_OUT',
] as const satisfies readonly RunStatus[];

export type FinalStatus = (typeof finalStatuses)[number];

/** All transitions of the state machine. A final status has none. */
export const transitions: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  PENDING_VERSION: ['QUEUED', 'EXPIRED', 'CANCELED'],
  DELAYED: ['QUEUED', 'PENDING_VERSION', 'CANCELED'],
  QUEUED: ['DEQUEUED', 'EXECUTING', 'PENDING_VERSION', 'EXPIRED', 'CANCELED'],
  DEQUEUED: ['EXECUTING', 'QUEUED', 'CANCELED', 'CRASHED', 'SYSTEM_FAILURE'],
  EXECUTING: [
    'COMPLETED',
    'FAILED',
    'CRASHED',
    'SYSTEM_FAILURE',
    'TIMED_OUT',
    'CANCELED',
    'WAITING',
    'QUEUED',
  ],
  WAITING: ['QUEUED', 'EXECUTING', 'CANCELED'],
  COMPLETED: [],
  CANCELED: [],
  FAILED: [],
  CRASHED: [],
  SYSTEM_FAILURE: [],
  EXPIRED: [],
  TIMED_OUT: [],
};

export const isFinal = (status: RunStatus): status is FinalStatus => transitions[status].length === 0;

/** The seven boolean flags that accompany the status on the wire. */
export function statusFlags(status: RunStatus) {
  const isSuccess = status === 'COMPLETED';
  const isCancelled = status === 'CANCELED';
  const isCompleted = isFinal(status);
  return {
    isQueued: status === 'QUEUED' || status === 'PENDING_VERSION' || status === 'DELAYED',
    isExecuting: status === 'EXECUTING' || status === 'DEQUEUED',
    isWaiting: status === 'WAITING',
    isCompleted,
    isSuccess,
    isFailed: isCompleted && !isSuccess && !isCancelled,
    isCancelled,
  };
}
