import type { TaskManifest } from '@millrace/contract/runner';
import type { QueueOptions, TaskDefinition } from '../task/definition.ts';
import { rateLimitToWire } from '../task/rate-limit.ts';
import { checkNumber, checkObject, checkText, format, type Refuse } from './checks.ts';

/** Settings of a task that apply to its own queue. */
type OfTask = Pick<TaskDefinition, 'rateLimit' | 'concurrency'>;

/** The queue of a task with its limits. Undefined for its own queue without limits. */
export function queueOf(
  refuse: Refuse,
  id: string,
  queue: QueueOptions | undefined,
  ofTask: OfTask,
): TaskManifest['queue'] {
  const own = (['rateLimit', 'concurrency'] as const).filter((field) => ofTask[field] !== undefined);
  if (queue === undefined && own.length === 0) return undefined;
  checkObject(refuse, 'queue', queue);
  const { name = `task/${id}`, concurrencyLimit, weight, keyWeights } = queue ?? {};
  for (const field of own) {
    if (queue?.name !== undefined)
      refuse(field, `must be declared in its queue, which other tasks may share: queue.${field}`, name);
    if (queue?.[field] !== undefined)
      refuse(field, `must be declared once, here or as queue.${field}`, ofTask[field]);
  }
  const at = (field: keyof OfTask): string => (own.includes(field) ? field : `queue.${field}`);
  checkText(refuse, 'queue.name', name, 128);
  checkNumber(
    refuse,
    'queue.concurrencyLimit',
    concurrencyLimit ?? undefined,
    0,
    Number.MAX_SAFE_INTEGER,
    true,
  );
  const rateLimit = ofTask.rateLimit ?? queue?.rateLimit;
  const rate =
    rateLimit &&
    rateLimitToWire(rateLimit, (field, rule, value) => refuse(`${at('rateLimit')}${field}`, rule, value));
  const concurrency = ofTask.concurrency ?? queue?.concurrency;
  checkSharedLimit(refuse, at('concurrency'), concurrency);
  checkNumber(refuse, 'queue.weight', weight, 1, maxWeight, true);
  checkKeyWeights(refuse, keyWeights);
  return {
    name,
    concurrencyLimit,
    ...(rate && { rateLimit: rate }),
    ...(concurrency && { concurrency: { name: concurrency.name, limit: concurrency.limit } }),
    ...(weight !== undefined && { weight }),
    ...(keyWeights && { keyWeights }),
  };
}

const maxWeight = 100;
const maxKeyWeights = 1_000;

function checkSharedLimit(refuse: Refuse, at: string, shared: QueueOptions['concurrency']): void {
  if (shared === undefined) return;
  if (typeof shared !== 'object' || shared === null)
    return refuse(at, "must be an object such as { name: 'provider', limit: 10 }", shared);
  checkText(refuse, `${at}.name`, shared.name, 128);
  if (shared.limit === undefined)
    refuse(`${at}.limit`, 'must be a whole number from 0 to 100000', shared.limit);
  checkNumber(refuse, `${at}.limit`, shared.limit, 0, 100_000, true);
}

function checkKeyWeights(refuse: Refuse, weights: QueueOptions['keyWeights']): void {
  if (weights === undefined) return;
  const rule = `must be an object of up to ${maxKeyWeights} concurrency keys with a whole number from 1 to ${maxWeight} each`;
  if (typeof weights !== 'object' || weights === null || Array.isArray(weights))
    return refuse('queue.keyWeights', rule, weights);
  const entries = Object.entries(weights);
  if (entries.length > maxKeyWeights) refuse('queue.keyWeights', rule, `${entries.length} keys`);
  for (const [key, weight] of entries) {
    checkText(refuse, `the key of queue.keyWeights`, key, 512);
    if (weight === undefined)
      refuse(`queue.keyWeights[${format(key)}]`, `must be a whole number from 1 to ${maxWeight}`, weight);
    checkNumber(refuse, `queue.keyWeights[${format(key)}]`, weight, 1, maxWeight, true);
  }
}
