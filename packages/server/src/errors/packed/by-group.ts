import type { Queryable } from '../../db/connect.ts';
import { firstOf, grow, room, sum, type Counts } from './counts.ts';
import { movesIn, movesOf, type MoveRow } from './moves.ts';

const rooms = { kept: room(), moved: room(), more: room() };

/**
 * Counts of groups, by their numbers, from those of their fingerprints. A group has the number of the fingerprint that it is named after,
 * and most have no other: what others have is moved there.
 */
export async function byGroup(sql: Queryable, env: number, all: Counts): Promise<Counts> {
  return moveCounts(all, await movesOf(sql, env));
}

function moveCounts(all: Counts, moves: readonly MoveRow[]): Counts {
  if (moves.length === 0) return all;
  const { fingerprints: elsewhere, counts: numbers } = movesIn(moves);
  const { fingerprints, counts } = all;
  const kept = grow(rooms.kept, counts.length);
  let keptSize = 0;
  // Where each of the moved is among the counts, behind the number of its group, so that sorting puts groups together.
  const moved = grow(rooms.moved, counts.length).counts;
  let movedSize = 0;
  for (let place = 0, at = 0; place < counts.length; place++) {
    const id = fingerprints[place] as number;
    while (at < elsewhere.length && (elsewhere[at] as number) < id) at += 1;
    if (elsewhere[at] === id) {
      moved[movedSize++] = (numbers[at] as number) * counts.length + place;
    } else {
      kept.fingerprints[keptSize] = id;
      kept.counts[keptSize++] = counts[place] as number;
    }
  }
  const more = grow(rooms.more, movedSize);
  let size = 0;
  // oxlint-disable-next-line unicorn/no-array-sort -- a typed array of our own: a copy for each list is what the room spares
  for (const one of moved.subarray(0, movedSize).sort()) {
    const number = Math.floor(one / counts.length);
    const count = counts[one - number * counts.length] as number;
    if (size > 0 && more.fingerprints[size - 1] === number) {
      more.counts[size - 1] = (more.counts[size - 1] as number) + count;
    } else {
      more.fingerprints[size] = number;
      more.counts[size++] = count;
    }
  }
  return sum([
    { sign: 1, ...firstOf(kept, keptSize) },
    { sign: 1, ...firstOf(more, size) },
  ]);
}
