import type { Schedule, ScheduleTick } from '@millrace/contract';
import { runStatusLooks, type Look } from '../../parts/status/run-status.ts';

const active: Look = { word: 'Active', glyph: 'disc', tone: 'good' };
const inactive: Look = { word: 'Inactive', glyph: 'slashed', tone: 'quiet' };
const ended: Look = { word: 'No next time', glyph: 'hourglass', tone: 'warn' };

export const lookOfSchedule = ({ active: isActive, nextRun }: Schedule): Look =>
  isActive ? (nextRun === null ? ended : active) : inactive;

const skipped: Look = { word: 'Skipped', glyph: 'dotted', tone: 'warn' };
const fired: Look = { word: 'Fired', glyph: 'disc', tone: 'quiet' };

/** For a tick that fired: the status of its run. */
export const lookOfTick = (tick: ScheduleTick): Look =>
  tick.outcome === 'skipped' ? skipped : tick.status === undefined ? fired : runStatusLooks[tick.status];

export const reasonTexts: Readonly<Record<Extract<ScheduleTick, { outcome: 'skipped' }>['reason'], string>> =
  {
    missed: 'No server was running in time, and the rule for missed ticks skipped it',
    overlap: 'The run before had not ended, and the overlap rule skipped it',
    no_runner: 'No runner was connected to this development environment',
    no_task: 'The current version has no such scheduled task',
    archived: 'The environment was archived',
    failed: 'Its run could not be created; the log of the server has the reason',
  };

export const overlapTexts: Readonly<Record<Schedule['overlap'], string>> = {
  allow: 'Start it all the same',
  skip: 'Skip the tick',
  queue: 'Start it after the run before',
  cancel: 'Cancel the run before',
};

/** @example missedText('all:6h') // 'Run all of the last 6h' */
export const missedText = (rule: string): string =>
  rule === 'once'
    ? 'Run the latest one'
    : rule === 'skip'
      ? 'Run none'
      : `Run all of the last ${rule.replace(/^all:/, '')}`;
