import { entriesOf, type Entry } from './entry.ts';

const trigger = entriesOf('trigger');
const batch = entriesOf('batch');

/** Why a run cannot have limits of its own. */
export const noRunLimits =
  'a run has the limits of its queue here: pass `queue` with the name of another queue, which has those limits';

/** The options of triggers, 4.0 to 4.8. Executor processes load this file too, so it has no others. */
export const triggerRows: readonly Entry[] = [
  ...trigger.works('idempotencyKey', 'idempotencyKeyTTL', 'maxAttempts', 'maxDuration', 'machine'),
  ...trigger.works('queue', 'concurrencyKey', 'priority', 'delay', 'ttl', 'tags', 'metadata'),
  ...trigger.works('debounce'),
  ...trigger.members('debounce', 'key', 'delay', 'mode', 'maxDelay'),
  trigger.differs('version', 'accepts the versions of Millrace'),
  ...trigger.works('externalDeploymentId', 'signal', 'cancelOnAbort'),
  ...trigger.not(noRunLimits, 'concurrency'),
  trigger.differs('region', 'stored and shown with the run: it executes wherever runners are'),

  ...batch.works('idempotencyKey', 'idempotencyKeyTTL', 'triggerSequentially'),
];
