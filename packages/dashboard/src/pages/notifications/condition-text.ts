import type { Alert } from '@millrace/contract';

/**
 * The condition of an alert as a sentence without a period.
 *
 * @example conditionText(alert) // 'More than 10 % of the runs of charge failed within 5m'
 */
export const conditionText = (alert: ConditionOf): string =>
  `${conditionOf(alert)}${alert.owners === null ? '' : `, only of ${alert.owners.join(', ')}`}`;

function conditionOf({ kind, threshold, window, task, queue, minRuns }: ConditionOf): string {
  const ofTask = task === null ? '' : ` of ${task}`;
  const many = (singular: string, more: string): string =>
    threshold === 1 ? singular : `${threshold.toLocaleString('en')} ${more}`;
  switch (kind) {
    case 'error.new':
      return `${many('A new error', 'new errors')}${ofTask} within ${window}`;
    case 'error.regressed':
      return `${many('A resolved error', 'resolved errors')}${ofTask} occurred again within ${window}`;
    case 'task.failureRate':
      return `More than ${threshold} % of at least ${minRuns ?? 20} runs of ${task ?? 'a task'} failed within ${window}`;
    case 'queue.age':
      return `A run in ${queue ?? 'a queue'} has waited for more than ${threshold} s, for ${window}`;
    case 'schedule.missed':
      return `${many('A tick was missed', 'ticks were missed')}${ofTask} within ${window}`;
    case 'runner.none':
      return `Runs have waited for more than ${threshold} s, for ${window}, and no runner can execute them`;
  }
}

type ConditionOf = Pick<Alert, 'kind' | 'threshold' | 'window' | 'task' | 'queue' | 'owners' | 'minRuns'>;
