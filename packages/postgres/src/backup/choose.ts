import { BackupFailed } from './errors.ts';
import type { Manifest } from './manifest.ts';
import { parseSegment, segmentAt, segmentName, type Segment } from './wal.ts';

/** A timeline on the path to the one that is restored; `endLsn` is the position at which the next one branched off. */
export interface Branch {
  readonly timeline: number;
  readonly endLsn?: string | undefined;
}

/** Parses a history file of PostgreSQL: a line for each earlier timeline, with the position at which it was left. */
export function parseHistory(text: string, timeline: number): Branch[] {
  const earlier = text.split('\n').flatMap((line): Branch[] => {
    const [, id, endLsn] = /^\s*(\d+)\s+([0-9A-F]+\/[0-9A-F]+)/.exec(line) ?? [];
    return id === undefined ? [] : [{ timeline: Number(id), endLsn }];
  });
  return [...earlier, { timeline }];
}

const positionOf = (lsn: string): bigint => segmentAt(lsn, 1);

/** The latest base backup from which a moment can be restored: completed by then, and on the path to the timeline. */
export function chooseBase(
  bases: readonly Manifest[],
  branches: readonly Branch[],
  at: Date | undefined,
): Manifest {
  const onTheWay = bases.filter(({ timeline, endLsn }) => {
    const branch = branches.find((candidate) => candidate.timeline === timeline);
    return branch && (branch.endLsn === undefined || positionOf(endLsn) <= positionOf(branch.endLsn));
  });
  const [first] = onTheWay;
  if (!first) throw new BackupFailed('No backup in this folder leads to the requested timeline.');
  const chosen = onTheWay.findLast(({ endedAt }) => at === undefined || new Date(endedAt) <= at);
  if (chosen) return chosen;
  throw new BackupFailed(
    `No backup from before ${at?.toISOString()}. The earliest time that can be restored is ${first.endedAt}.`,
  );
}

interface NeededWal {
  /** Names of archived files, oldest first, without a gap. */
  readonly names: string[];
  /** The first missing segment, if there are later ones. */
  readonly missing?: string;
}

/** The archived segments that lead from a base backup to the end of the archive, or to its first gap. */
export function neededWal(
  base: Manifest,
  branches: readonly Branch[],
  archived: ReadonlySet<string>,
): NeededWal {
  const { segmentBytes } = base;
  const first = parseSegment(base.startWal, segmentBytes);
  const end = parseSegment(base.endWal, segmentBytes);
  if (!first || !end) throw new BackupFailed(`The backup ${base.name} is damaged: it lists no WAL.`);
  const byNumber = new Map<bigint, Segment[]>();
  let last = end.number;
  for (const name of archived) {
    const segment = parseSegment(name, segmentBytes);
    const branch = branches.find(({ timeline }) => timeline === segment?.timeline);
    if (!segment || !branch || segment.number < first.number) continue;
    if (branch.endLsn !== undefined && segment.number > segmentAt(branch.endLsn, segmentBytes)) continue;
    byNumber.set(segment.number, [...(byNumber.get(segment.number) ?? []), segment]);
    if (segment.number > last) last = segment.number;
  }
  const names: string[] = [];
  for (let number = first.number; number <= last; number += 1n) {
    const found = byNumber.get(number);
    const missing = segmentName({ timeline: base.timeline, number }, segmentBytes);
    if (!found && number <= end.number) {
      throw new BackupFailed(
        `The backup ${base.name} cannot be restored: its WAL ${missing} is not in the archive. Use another one.`,
      );
    }
    if (!found) return { names, missing };
    names.push(...found.map((segment) => segmentName(segment, segmentBytes)));
  }
  return { names };
}
