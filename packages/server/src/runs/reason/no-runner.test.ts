import { expect, test } from 'vitest';
import type { RunnerProperties, StartConditions } from './start-conditions.ts';
import { whyNoRunner } from './no-runner.ts';

const runner: RunnerProperties = {
  host: 'a',
  platform: 'linux-x64-glibc',
  nodeMajor: 22,
  labels: [],
  draining: false,
  loaded: false,
  unable: null,
};
const needs = { nodeMajor: 20, platforms: [], requires: [] };
const why = (more: object, ...runners: readonly RunnerProperties[]): string | undefined =>
  whyNoRunner({
    version: '20261123.1',
    bound: true,
    needs,
    archived: false,
    runners,
    ...more,
  } as unknown as StartConditions);

test('returns nothing if a runner can execute the version, loaded or not', () => {
  expect(why({}, { ...runner, draining: true }, runner)).toBeUndefined();
  expect(why({ needs: null }, { ...runner, loaded: true })).toBeUndefined();
});

test('lists what each runner lacks', () => {
  const others = { ...runner, platform: null, nodeMajor: null };
  expect(
    why(
      { needs: { ...needs, platforms: ['linux-arm64-musl'] } },
      runner,
      { ...runner, host: 'b', draining: true },
      others,
      others,
    ),
  ).toBe(
    'No connected runner can execute version 20261123.1, to which the run is bound: the runner on a lacks one of the platforms linux-arm64-musl (it is linux-x64-glibc); the runner on b accepts no more attempts; the runner on a has only the versions of its folder; and 1 more. Or move its runs to another version: `millrace versions move 20261123.1 …`.',
  );
  expect(why({}, { ...runner, unable: 'the disk is full' })).toMatch(
    /could not load it \(the disk is full\)\. Or move its runs to another version: /,
  );
});

test('names the canary if the run starts on it', () => {
  expect(why({ bound: false, canary: true })).toBe(
    'No runner is connected that can execute the canary 20261123.1. Start one with `millrace work`.',
  );
});

test('suggests a fix if no runner can load the version', () => {
  expect(why({})).toMatch(
    /^No runner is connected .* Start one with `millrace work`\. Or move its runs to another version: `millrace versions move 20261123\.1 …`\.$/,
  );
  expect(why({ needs: null, bound: false }, runner)).toBe(
    'No connected runner has the current version 20261123.1. Start one with `millrace work` in its folder.',
  );
  expect(why({ needs: null, archived: true }, runner)).toMatch(
    /its files were deleted because it is archived\. Cancel the run, or move it to another version/,
  );
});
