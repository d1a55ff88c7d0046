import type { Catalog, CatalogTask, ConcurrencyLimit } from './catalog.ts';

/** The maximum of our shared limits. */
const maxTotal = 100_000;

/** Named like the error of our SDK for an invalid declaration. */
const refused = (sentence: string): Error =>
  Object.assign(new Error(sentence), { name: 'TaskDeclarationError' });

/** The queue of a task in the form in which our SDK declares it. */
export interface DeclaredQueue {
  readonly name: string;
  readonly concurrencyLimit?: number;
  /** A shared limit: it counts the runs of all concurrency keys. */
  readonly concurrency?: { readonly name: string; readonly limit: number };
}

/**
 * The queue of a task with its limits. `perKey` is the queue's limit, which applies to each concurrency key separately; `total` is a shared
 * limit. Throws for limits that no queue can have.
 */
export function queueOf(task: CatalogTask, catalog: Catalog): DeclaredQueue | undefined {
  const { id, queue, concurrency } = task;
  // A string names a queue that is declared elsewhere.
  const { concurrencyLimit } = { ...catalog.queue(queue?.name ?? ''), ...queue };
  const name = queue?.name ?? `task/${id}`;
  const { perKey, total } = limitsOf(task, catalog);
  const limits = [concurrencyLimit, perKey].filter((limit) => limit !== undefined);
  if (concurrency !== undefined) refuseForeign(task, catalog);
  if (queue?.name === undefined && limits.length === 0 && !total) return undefined;
  return {
    name,
    ...(limits.length > 0 && { concurrencyLimit: Math.min(...limits) }),
    ...(total && { concurrency: { name: total.name, limit: Math.min(total.limit, maxTotal) } }),
  };
}

/** The limits of the `concurrency` of a task, 4.8 and later. */
function limitsOf(
  { id, concurrency }: CatalogTask,
  catalog: Catalog,
): {
  readonly perKey?: number | undefined;
  readonly total?: { readonly name: string; readonly limit: number };
} {
  const { inline, limits = [] } = concurrency ?? {};
  const named = limits.map((name) => declared(id, name, catalog));
  const own: ConcurrencyLimit = { name: `task/${id}`, perKey: inline?.perKey, total: inline?.total };
  const totals = [own, ...named].flatMap(({ name, total }) =>
    total === undefined ? [] : [{ name, limit: total }],
  );
  const [total, other] = totals;
  if (other)
    throw refused(
      `task "${id}": concurrency has ${totals.length} totals, but a queue has one here: keep ${totals.map(nameOf).join(' or ')}`,
    );
  const perKeys = [own, ...named].flatMap(({ perKey }) => (perKey === undefined ? [] : [perKey]));
  return { ...(perKeys.length > 0 && { perKey: Math.min(...perKeys) }), ...(total && { total }) };
}

const nameOf = ({ name }: { readonly name: string }): string =>
  name.startsWith('task/') ? 'the total of the task' : `"${name}"`;

function declared(id: string, name: string, catalog: Catalog): ConcurrencyLimit {
  const limit = catalog.limit(name);
  if (!limit)
    throw refused(
      `task "${id}": no concurrency limit "${name}": declare it with concurrencyLimit({ name: '${name}', … })`,
    );
  const holders = catalog.tasks().filter((task) => task.concurrency?.limits?.includes(name));
  if (limit.perKey !== undefined && holders.length > 1)
    throw refused(
      `task "${id}": the concurrency limit "${name}" has a perKey but is used by ${holders.length} tasks: a limit per key belongs to one queue ` +
        `here. Use one queue for the tasks instead, queue({ name: '${name}', concurrencyLimit: ${limit.perKey} })`,
    );
  return limit;
}

/** On a queue shared by several tasks, the limits of one task would apply to all of them. They may use the same named limits. */
function refuseForeign({ id, queue, concurrency }: CatalogTask, catalog: Catalog): void {
  if (queue?.name === undefined) return;
  const limits = JSON.stringify(concurrency?.limits);
  const other = catalog
    .tasks()
    .find(
      (task) =>
        task.id !== id &&
        task.queue?.name === queue.name &&
        (concurrency?.inline || JSON.stringify(task.concurrency?.limits) !== limits),
    );
  if (other)
    throw refused(
      `task "${id}": its concurrency would also apply to the task "${other.id}", which uses the same queue "${queue.name}": ` +
        'use a separate queue, or the same named limit for both tasks',
    );
}
