import type { TimelineEntry } from '@millrace/contract';
import type { ReplyOf } from '../../../api/operation-types.ts';

/**
 * The entries of several pages as one timeline. Each page after the first repeats the run, without its attempts: its children belong to the
 * attempt that had started.
 */
export function entriesOfPages([
  first,
  ...later
]: readonly ReplyOf<'retrieveRunTimeline'>[]): readonly TimelineEntry[] {
  const root = first?.entries[0];
  if (!first || !root || later.length === 0) return first?.entries ?? [];
  const attempts = first.entries.filter(({ kind, parentId }) => kind === 'attempt' && parentId === root.id);
  const attemptAt = (moment: string): TimelineEntry =>
    attempts.findLast(({ startedAt }) => startedAt <= moment) ?? attempts[0] ?? root;
  const entries = new Map(first.entries.map((entry) => [entry.id, entry]));
  for (const page of later)
    for (const entry of page.entries) {
      // The run itself, or a batch that continues on the next page.
      if (entries.has(entry.id)) continue;
      const parentId = entry.parentId === root.id ? attemptAt(entry.startedAt).id : entry.parentId;
      entries.set(entry.id, parentId === entry.parentId ? entry : { ...entry, parentId });
    }
  const hasMoreChildren = later.at(-1)?.pagination.next !== undefined;
  if (root.kind === 'run') entries.set(root.id, { ...root, hasMoreChildren });
  return [...entries.values()];
}
