import type { TaskDefaults } from './messages.ts';
import type { Entry } from './messages.ts';

/**
 * The entries that a process imports to execute the tasks of `sources`, in order: the preloads of the version, then those files. Every process
 * of a version starts with such a list, and indexing imports the files in this order too.
 */
export function importOrder(
  entries: readonly Entry[],
  { preloads = [] }: TaskDefaults,
  sources: Iterable<string>,
): Entry[] {
  const bySource = new Map(entries.map((entry) => [entry.source, entry]));
  return [...new Set([...preloads, ...sources])].flatMap((source) => bySource.get(source) ?? []);
}
