import type { AlertKind, EndpointKind, NotificationType } from '@millrace/contract';

/** Display names of the notification types. */
export const typeWords: Readonly<Record<NotificationType, string>> = {
  'run.failed': 'A run failed',
  'error.new': 'An error occurred for the first time',
  'error.regressed': 'A resolved error occurred again',
  'error.unignored': 'An error is no longer ignored',
  'deployment.registered': 'A version was registered',
  'deployment.promoted': 'A version became current',
  'schedule.missed': 'A schedule missed a tick',
  'endpoint.disabled': 'An endpoint was switched off',
  'alert.firing': 'An alert fires',
  'alert.resolved': 'An alert ended',
};

/** Types that chats and email accept: grouped ones. */
export const messageTypes = ['alert.firing', 'alert.resolved', 'endpoint.disabled'] as const;

export const kindWords: Readonly<Record<EndpointKind, string>> = {
  webhook: 'Webhook',
  slack: 'Chat',
  email: 'Mail',
};

interface AlertWords {
  readonly label: string;
  /** The unit of the threshold. */
  readonly unit: string;
  readonly threshold: number;
  readonly window: string;
  /** The meaning of the window. */
  readonly windowHint: string;
  readonly of?: 'task' | 'queue';
}

const counted = 'Time span for the count, such as 5m.';
const durationHint = 'How long the condition must hold, such as 1m.';

/** The conditions that can be monitored, with their initial settings. */
export const alertWords: Readonly<Record<AlertKind, AlertWords>> = {
  'error.new': {
    label: 'New errors',
    unit: 'error groups',
    threshold: 1,
    window: '5m',
    windowHint: counted,
    of: 'task',
  },
  'error.regressed': {
    label: 'Resolved errors that occurred again',
    unit: 'error groups',
    threshold: 1,
    window: '5m',
    windowHint: counted,
    of: 'task',
  },
  'task.failureRate': {
    label: 'Failure rate',
    unit: 'percent of the runs that ended',
    threshold: 10,
    window: '5m',
    windowHint: 'Time span of the ended runs, such as 5m.',
    of: 'task',
  },
  'queue.age': {
    label: 'Long wait in a queue',
    unit: 'seconds that the oldest run has waited',
    threshold: 300,
    window: '1m',
    windowHint: durationHint,
    of: 'queue',
  },
  'schedule.missed': {
    label: 'Missed schedule ticks',
    unit: 'missed ticks',
    threshold: 1,
    window: '5m',
    windowHint: counted,
    of: 'task',
  },
  'runner.none': {
    label: 'No runner for waiting runs',
    unit: 'seconds that runs have waited',
    threshold: 60,
    window: '1m',
    windowHint: durationHint,
  },
};

export const alertKinds = Object.keys(alertWords) as readonly AlertKind[];
