import { entriesOf, type Entry } from './entry.ts';

const task = entriesOf('task');
const hook = entriesOf('hook');
const result = entriesOf('catchError');
const queue = entriesOf('queue');
const limit = entriesOf('limit');
const webhook = entriesOf('webhook');
const endpoint = entriesOf('endpoint');

const retry = ['maxAttempts', 'factor', 'minTimeoutInMs', 'maxTimeoutInMs', 'randomize', 'outOfMemory'];
const internal = 'set by the published SDK, not by a project';

/** The options of declarations, 4.0 to 4.8. */
export const optionRows: readonly Entry[] = [
  ...task.works('id', 'description', 'run', 'retry', 'queue', 'machine', 'maxDuration', 'ttl'),
  ...task.members('retry', ...retry, 'outOfMemory.machine'),
  ...task.members('queue', 'name', 'concurrencyLimit'),
  ...task.members('machine', 'preset'),
  task.differs('machine.cpu', 'selects the smallest machine with this many CPUs and this much memory'),
  task.differs('machine.memory', 'selects the smallest machine with this many CPUs and this much memory'),
  task.differs('concurrency', 'one `total` for each task: its own, or that of a named limit'),
  ...task.members('concurrency', 'perKey', 'total', 'name'),
  ...task.works('init', 'cleanup', 'middleware', 'catchError', 'handleError'),
  ...task.works('onStart', 'onStartAttempt', 'onSuccess', 'onFailure', 'onComplete', 'onCancel'),
  ...task.works('onWait', 'onResume', 'jsonSchema', 'schema', 'parameters'),
  ...task.works('cron'),
  ...task.members('cron', 'pattern', 'timezone', 'window', 'environments'),
  ...task.none(internal, 'triggerSource', 'agentConfig'),

  ...hook.works(
    'ctx',
    'payload',
    'task',
    'signal',
    'init',
    'next',
    'output',
    'error',
    'result',
    'runPromise',
  ),
  ...hook.works('retry', 'retryAt', 'retryDelayInMs', 'wait'),
  ...result.works('skipRetrying', 'retryAt', 'retryDelayInMs', 'retry', 'error'),

  ...queue.works('name', 'concurrencyLimit'),
  ...limit.works('name', 'total'),
  limit.differs('perKey', 'for one task: several tasks with a common limit for each key use one queue'),

  ...webhook.works('id', 'endpoint', 'onEvent'),
  ...webhook.not('check the event in `onEvent`, and return for others', 'filter'),
  ...endpoint.works('id', 'source', 'metadata'),
  ...endpoint.none('shown only in the dashboard of that service', 'description'),
];
