import type { RunnerProperties } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { ConnectedRunner } from '../../runners/runners.ts';
import type { FetchableVersion } from '../../versions/versions.ts';
import { pinsFor, versionsToLoad } from './eligible.ts';
import { unmetRequirements } from './unmet-requirements.ts';

const properties: RunnerProperties = { nodeMajor: 22, platform: 'linux-x64-glibc', labels: ['ffmpeg'] };
const version = (id: number, more: Partial<FetchableVersion> = {}): FetchableVersion => ({
  id,
  version: `v${id}`,
  nodeMajor: 20,
  platforms: [],
  requires: [],
  ...more,
});
const runnerWith = (
  loaded: readonly number[],
  its: RunnerProperties | undefined = properties,
): ConnectedRunner => new ConnectedRunner('r', 1, 10, new Set(loaded), () => {}, its);
const choice = { others: [], current: undefined, fetchable: [], waiting: new Set<number>(), now: 1_000 };

test('names the requirements of a version that a runner does not meet', () => {
  expect(unmetRequirements(properties, version(1))).toEqual([]);
  expect(
    unmetRequirements(properties, version(1, { platforms: ['linux-x64-glibc', 'linux-arm64-musl'] })),
  ).toEqual([]);
  expect(
    unmetRequirements(
      properties,
      version(1, { nodeMajor: 24, platforms: ['linux-arm64-musl'], requires: ['ffmpeg', 'gpu'] }),
    ),
  ).toEqual([
    'Node.js 24 (it has 22)',
    'one of the platforms linux-arm64-musl (it is linux-x64-glibc)',
    'the label "gpu"',
  ]);
});

test('a claim names the loaded versions, and versions with waiting runs that the runner can fetch', () => {
  const fetchable = Array.from({ length: 1_000 }, (_, n) =>
    version(n + 1, n === 4 ? { requires: ['gpu'] } : {}),
  );
  const waiting = new Set([3, 4, 5, 2_000]);
  const runner = runnerWith([1]);
  expect(pinsFor({ ...choice, runner, fetchable, waiting })).toEqual([1, 3, 4]);
  expect(pinsFor({ ...choice, runner, fetchable, waiting, current: { id: 7 } })).toEqual([0, 1, 3, 4, 7]);
  // A runner that cannot execute the current version does not get runs that start on it.
  expect(pinsFor({ ...choice, runner, fetchable, waiting, current: { id: 5 } })).toEqual([1, 3, 4]);
  // A runner that does not fetch keeps its versions.
  const folder = new ConnectedRunner('f', 1, 10, new Set([1, 9]), () => {});
  expect(pinsFor({ ...choice, runner: folder, fetchable, waiting, current: { id: 9 } })).toEqual([0, 1, 9]);
});

test('during a canary, a runner with either version receives unpinned runs', () => {
  const current = { id: 7, canary: { id: 8, percent: 10 } };
  const folder = (...loaded: number[]) => new ConnectedRunner('f', 1, 10, new Set(loaded), () => {});
  expect(pinsFor({ ...choice, runner: folder(7), current })).toEqual([0, 7]);
  expect(pinsFor({ ...choice, runner: folder(8), current })).toEqual([0, 8]);
  expect(pinsFor({ ...choice, runner: folder(9), current })).toEqual([9]);
  const many = Array.from({ length: 40 }, (_, n) => n + 8);
  expect(pinsFor({ ...choice, runner: folder(...many), current })).toEqual([0, 8]);
  const fetchable = [version(9), version(8), version(7)];
  expect(pinsFor({ ...choice, runner: runnerWith([7]), current, fetchable })).toEqual([0, 7, 8]);
  expect(versionsToLoad(runnerWith([]), current, fetchable, 0).map(({ id }) => id)).toEqual([7, 8, 9]);
});

test('a version is not loaded for a run while another free runner has it loaded', () => {
  const runner = runnerWith([]);
  const other = runnerWith([3]);
  const input = {
    ...choice,
    runner,
    others: [runner, other],
    fetchable: [version(3)],
    waiting: new Set([3]),
  };
  expect(pinsFor(input)).toEqual([]);
  other.isDrainRequested = true;
  expect(pinsFor(input)).toEqual([3]);
});

test('with many loaded versions, a claim names those with waiting runs', () => {
  const runner = runnerWith(Array.from({ length: 100 }, (_, n) => n + 1));
  expect(pinsFor({ ...choice, runner, waiting: new Set([7]), current: { id: 9 } })).toEqual([0, 7]);
});

test('a version that a runner could not serve is not assigned to it for a while', () => {
  const runner = runnerWith([]);
  runner.unable.set('v3', { why: 'the disk is full', until: 2_000 });
  const input = { ...choice, runner, fetchable: [version(3)], waiting: new Set([3]), current: { id: 3 } };
  expect(pinsFor(input)).toEqual([]);
  expect(versionsToLoad(runner, { id: 3 }, [version(3)], 1_000)).toEqual([]);
  expect(pinsFor({ ...input, now: 2_000 })).toEqual([0, 3]);
});

test('a runner loads the current version first, and the newest', () => {
  const [a, b, c] = [version(3), version(2), version(1)];
  const load = (current: number | undefined) =>
    versionsToLoad(runnerWith([]), current === undefined ? undefined : { id: current }, [a, b, c], 0);
  expect(load(1)).toEqual([c, a]);
  expect(load(3)).toEqual([a]);
  expect(load(undefined)).toEqual([a]);
  expect(load(99)).toEqual([a]);
});

test('an on-demand runner loads only versions that are being promoted', () => {
  const fetchable = [version(3), version(2), version(1)];
  const runner = runnerWith([]);
  runner.isOnDemand = true;
  const toLoad = (requested: number[]) =>
    versionsToLoad(runner, { id: 1, canary: undefined }, fetchable, 1_000, requested).map(({ id }) => id);
  expect(toLoad([])).toEqual([]);
  expect(toLoad([2])).toEqual([2]);
  // It has been promoted in the meantime.
  expect(toLoad([1])).toEqual([]);
});
