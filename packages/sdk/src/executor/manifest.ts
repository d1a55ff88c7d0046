import { isOwner, ownerRule, retentionLimits } from '@millrace/contract/plain';
import type { MachinePreset, TaskManifest, TaskRetention } from '@millrace/contract/runner';
import { parseDuration } from '../duration.ts';
import { declaredSubscription } from '../events/subscription.ts';
import type { HookName } from '../hooks/types.ts';
import { declaredSchedule } from '../schedules/declared.ts';
import type { TaskDefinition } from '../task/definition.ts';
import type { TaskRetryOptions } from '../retry/backoff.ts';
import { batchToWire } from '../task/batch.ts';
import { rateLimitToWire } from '../task/rate-limit.ts';
import { taskBrand, type AnyTask } from '../task/types.ts';
import { declaredWebhook } from '../webhooks/declared.ts';
import { checkBoolean, checkNumber, checkObject, checkText, format, type Refuse } from './checks.ts';
import { payloadSchemaOf } from './payload-schema.ts';
import { queueOf } from './queue.ts';

/** An invalid task declaration. The message names the file, the task and the field. */
export class TaskDeclarationError extends Error {
  override readonly name = 'TaskDeclarationError';
}

const machines: Readonly<Record<MachinePreset, true>> = {
  micro: true,
  'small-1x': true,
  'small-2x': true,
  'medium-1x': true,
  'medium-2x': true,
  'large-1x': true,
  'large-2x': true,
};

const hookNames = [
  'middleware',
  'onStart',
  'onStartAttempt',
  'onSuccess',
  'onFailure',
  'onCancel',
  'onComplete',
  'catchError',
] as const satisfies readonly HookName[];

function checkMachine(refuse: Refuse, field: string, machine: unknown): void {
  if (typeof machine !== 'string' || !Object.hasOwn(machines, machine))
    refuse(field, `must be one of ${Object.keys(machines).join(', ')}`, machine);
}

function checkRetry(refuse: Refuse, retry: TaskRetryOptions | undefined): void {
  checkObject(refuse, 'retry', retry);
  const any = Number.MAX_SAFE_INTEGER;
  checkNumber(refuse, 'retry.maxAttempts', retry?.maxAttempts, 1, 1_000, true);
  checkNumber(refuse, 'retry.factor', retry?.factor, 1, 100, false);
  checkNumber(refuse, 'retry.minTimeoutInMs', retry?.minTimeoutInMs, 0, any, true);
  checkNumber(refuse, 'retry.maxTimeoutInMs', retry?.maxTimeoutInMs, 0, any, true);
  checkBoolean(refuse, 'retry.randomize', retry?.randomize);
  if (retry?.outOfMemory !== undefined)
    checkMachine(refuse, 'retry.outOfMemory.machine', retry.outOfMemory?.machine);
}

function ttlOf(refuse: Refuse, ttl: number | string | undefined): number | undefined {
  const seconds = typeof ttl === 'string' ? parseDuration(ttl) : ttl;
  if (ttl !== undefined && seconds === undefined)
    refuse('ttl', 'must be seconds, or a duration such as 1h30m', ttl);
  checkNumber(refuse, 'ttl', seconds, 0, Number.MAX_SAFE_INTEGER, true);
  return seconds;
}

const retentionRule = 'must be seconds, or a duration such as 7d';

function retentionOf(refuse: Refuse, retention: TaskDefinition['retention']): TaskRetention | undefined {
  if (retention === undefined) return undefined;
  const isByStatus = typeof retention === 'object' && retention !== null;
  const seconds = (field: string, value: unknown): number => {
    const read = typeof value === 'string' ? parseDuration(value) : value;
    if (read === undefined) refuse(field, retentionRule, value);
    checkNumber(refuse, field, read, retentionLimits.min, retentionLimits.max, true);
    return read as number;
  };
  if (!isByStatus) {
    const all = seconds('retention', retention);
    return { completed: all, failed: all, canceled: all };
  }
  const entries = Object.entries(retention).filter(([, value]) => value !== undefined);
  const other = entries.find(([name]) => !['completed', 'failed', 'canceled'].includes(name));
  if (other) refuse(`retention.${other[0]}`, 'is not one of completed, failed, canceled', other[1]);
  return Object.fromEntries(entries.map(([name, value]) => [name, seconds(`retention.${name}`, value)]));
}

function checkLabels(refuse: Refuse, requires: unknown): void {
  if (requires === undefined) return;
  const isLabel = (value: unknown): boolean => typeof value === 'string' && /^[^\s,]{1,64}$/.test(value);
  if (!Array.isArray(requires) || requires.length > 32 || !requires.every(isLabel))
    refuse('requires', 'must be an array of up to 32 labels without spaces and commas', requires);
}

function checkSingleton(
  refuse: Refuse,
  singleton: { readonly onConflict?: unknown } | null | undefined,
): void {
  if (singleton === undefined) return;
  const onConflict = singleton?.onConflict;
  if (onConflict !== 'skip' && onConflict !== 'queue' && onConflict !== 'replace')
    refuse('singleton.onConflict', 'must be skip, queue or replace', onConflict);
}

function triggerLimitOf(refuse: Refuse, limit: TaskDefinition['triggerLimit']): TaskManifest['triggerLimit'] {
  if (limit === undefined) return undefined;
  checkObject(refuse, 'triggerLimit', limit);
  const { onExceed } = limit;
  if (onExceed !== undefined && onExceed !== 'refuse' && onExceed !== 'drop')
    refuse('triggerLimit.onExceed', 'must be refuse or drop', onExceed);
  const { key: _, ...rate } = rateLimitToWire(limit.rate, (field, rule, value) =>
    refuse(`triggerLimit.rate${field}`, rule, value),
  );
  return { rate, onExceed };
}

function batchOf(
  refuse: Refuse,
  { batch, singleton, scheduled }: TaskDefinition,
): Pick<TaskManifest, 'batch'> {
  if (batch === undefined) return {};
  if (singleton !== undefined) refuse('batch', 'and singleton cannot be combined', batch);
  if (scheduled) refuse('batch', 'is not allowed for scheduled tasks', batch);
  return { batch: batchToWire(batch, refuse) };
}

function checkPaths(refuse: Refuse, findBy: unknown): void {
  if (findBy === undefined) return;
  const isPath = (value: unknown): boolean =>
    typeof value === 'string' &&
    value.length <= 256 &&
    /^(metadata|payload)(\.[A-Za-z0-9_$-]{1,64}){1,8}$/.test(value);
  if (!Array.isArray(findBy) || findBy.length > 20 || !findBy.every(isPath))
    refuse('findBy', 'must be an array of up to 20 paths such as metadata.customer.id', findBy);
}

/**
 * The manifest of a task. Throws a TaskDeclarationError for an invalid declaration.
 * @param filePath where it is declared, relative to the project
 */
export function manifestOf(task: AnyTask, filePath: string, exportName?: string): TaskManifest {
  const definition: TaskDefinition = task[taskBrand];
  const {
    id,
    description,
    owner,
    retry,
    queue,
    rateLimit,
    concurrency,
    maxDuration,
    machine,
    ttl,
    isolated,
    fingerprint,
    schema,
    requires,
    findBy,
    singleton,
    triggerLimit,
    retention,
  } = definition;
  const refuse: Refuse = (field, rule, value) => {
    const where = exportName === undefined ? filePath : `${filePath}, export ${exportName}`;
    throw new TaskDeclarationError(`${where}: task ${format(id)}: ${field} ${rule}; got ${format(value)}`);
  };

  checkText(refuse, 'id', id, 128);
  const handler = definition.webhook === undefined ? 'run' : 'onEvent';
  if (typeof definition.run !== 'function') refuse(handler, 'must be a function', definition.run);
  const validate: unknown = schema?.['~standard']?.validate;
  if (schema !== undefined && typeof validate !== 'function')
    refuse('schema', 'must be a Standard Schema', schema);
  checkRetry(refuse, retry);
  checkNumber(refuse, 'maxDuration', maxDuration, 5, 2_147_483_647, true);
  if (machine !== undefined) checkMachine(refuse, 'machine', machine);
  checkBoolean(refuse, 'isolated', isolated);
  for (const hook of hookNames) {
    const fn: unknown = definition[hook];
    if (fn !== undefined && typeof fn !== 'function') refuse(hook, 'must be a function', fn);
  }
  if (description !== undefined && typeof description !== 'string')
    refuse('description', 'must be a string', description);
  if (owner !== undefined && !isOwner(owner)) refuse('owner', ownerRule, owner);
  if (fingerprint !== undefined) checkText(refuse, 'fingerprint', fingerprint, 256);
  checkLabels(refuse, requires);
  checkPaths(refuse, findBy);
  checkSingleton(refuse, singleton);

  return {
    id,
    filePath,
    exportName,
    description,
    ...(owner !== undefined && { owner }),
    queue: queueOf(refuse, id, queue, { rateLimit, concurrency }),
    retry,
    maxDuration,
    machine,
    isolated,
    ttl: ttlOf(refuse, ttl),
    fingerprint,
    ...(retention !== undefined && { retention: retentionOf(refuse, retention) }),
    ...(requires !== undefined && { requires }),
    ...payloadSchemaOf(schema),
    ...(findBy !== undefined && { findBy }),
    ...(singleton && { singleton: { onConflict: singleton.onConflict } }),
    ...batchOf(refuse, definition),
    ...(triggerLimit && { triggerLimit: triggerLimitOf(refuse, triggerLimit) }),
    scheduled: definition.scheduled,
    schedule: declaredSchedule(refuse, definition.schedule),
    on: declaredSubscription(refuse, definition.on),
    ...(definition.webhook !== undefined && { webhook: declaredWebhook(refuse, definition.webhook) }),
  };
}
