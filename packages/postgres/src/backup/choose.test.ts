import { expect, test } from 'vitest';
import { chooseBase, neededWal, parseHistory } from './choose.ts';
import type { Manifest } from './manifest.ts';
import { parseSegment, segmentAt, segmentName } from './wal.ts';

const segmentBytes = 16 * 1024 * 1024;

const base = (name: string, timeline: number, endLsn: string, endedAt: string, wal: number): Manifest => ({
  format: 1,
  name,
  startedAt: endedAt,
  endedAt,
  millrace: '0.1.0',
  postgres: '18.0',
  systemId: '1',
  timeline,
  segmentBytes,
  startWal: segmentName({ timeline, number: BigInt(wal) }, segmentBytes),
  endWal: segmentName({ timeline, number: BigInt(wal) }, segmentBytes),
  endLsn,
  bytes: 0,
  folders: [],
  files: [],
});

const morning = base('morning', 1, '0/3000100', '2026-11-28T08:00:00.000Z', 3);
// Created after the moment that is restored later, so timeline 2 does not contain it.
const abandoned = base('abandoned', 1, '0/7000100', '2026-11-28T09:00:00.000Z', 7);
const evening = base('evening', 2, '0/9000100', '2026-11-28T18:00:00.000Z', 9);
const all = [morning, abandoned, evening];
const branches = parseHistory('1\t0/5000200\tbefore 2026-11-28 08:30:00+00\n', 2);
const at = (time: string): Date => new Date(`2026-11-28T${time}Z`);

test('a history contains the earlier timelines and their switch points', () => {
  expect(branches).toEqual([{ timeline: 1, endLsn: '0/5000200' }, { timeline: 2 }]);
});

test('chooses the latest backup before the time, but none from an abandoned end of a timeline', () => {
  expect(chooseBase(all, branches, undefined)).toBe(evening);
  expect(chooseBase(all, branches, at('17:59:59'))).toBe(morning);
  expect(chooseBase(all, [{ timeline: 1 }], undefined)).toBe(abandoned);
  expect(() => chooseBase(all, branches, at('07:59:59'))).toThrow(
    'No backup from before 2026-11-28T07:59:59.000Z. The earliest time that can be restored is 2026-11-28T08:00:00.000Z',
  );
  expect(() => chooseBase(all, [{ timeline: 3 }], undefined)).toThrow('leads to the requested timeline');
});

const name = (timeline: number, number: number): string =>
  segmentName({ timeline, number: BigInt(number) }, segmentBytes);

test('requires WAL from the backup on, and of an earlier timeline only up to its switch point', () => {
  const archived = new Set([
    ...[2, 3, 4, 5, 6, 7].map((number) => name(1, number)),
    ...[5, 6].map((number) => name(2, number)),
    '00000002.history',
    `${name(1, 3)}.00000028.backup`,
  ]);
  expect(neededWal(morning, branches, archived)).toEqual({
    names: [name(1, 3), name(1, 4), name(1, 5), name(2, 5), name(2, 6)],
  });
});

test('a gap in the archive ends the replay, and a gap in the backup makes it unusable', () => {
  const gap = new Set([3, 4, 6].map((number) => name(1, number)));
  expect(neededWal(morning, [{ timeline: 1 }], gap)).toEqual({
    names: [name(1, 3), name(1, 4)],
    missing: name(1, 5),
  });
  expect(() => neededWal(abandoned, [{ timeline: 1 }], gap)).toThrow(
    `its WAL ${name(1, 7)} is not in the archive`,
  );
});

test('segments have the names that PostgreSQL gives them', () => {
  expect(name(1, 255)).toBe('0000000100000000000000FF');
  expect(name(26, 256)).toBe('0000001A0000000100000000');
  expect(parseSegment('0000001A0000000100000000', segmentBytes)).toEqual({ timeline: 26, number: 256n });
  expect(parseSegment('0000001A.history', segmentBytes)).toBeUndefined();
  expect(segmentAt('1/2000060', segmentBytes)).toBe(258n);
});
