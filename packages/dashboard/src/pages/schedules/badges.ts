import type { Schedule, ScheduleTick } from '@millrace/contract';
import { runStatusBadges, type Badge } from '../../parts/status/run-status.ts';

const active: Badge = { word: 'Active', glyph: 'disc', tone: 'good' };
const inactive: Badge = { word: 'Inactive', glyph: 'slashed', tone: 'quiet' };
const ended: Badge = { word: 'No next tick', glyph: 'hourglass', tone: 'warn' };

const withoutTask: Badge = { word: 'No task', glyph: 'dotted', tone: 'warn' };

export const badgeOfSchedule = ({ active: isActive, nextRun }: Schedule, hasTask: boolean): Badge =>
  isActive ? (hasTask ? (nextRun === null ? ended : active) : withoutTask) : inactive;

const skipped: Badge = { word: 'Skipped', glyph: 'dotted', tone: 'warn' };
const fired: Badge = { word: 'Fired', glyph: 'disc', tone: 'quiet' };

/** For a tick that fired: the status of its run. */
export const badgeOfTick = (tick: ScheduleTick): Badge =>
  tick.outcome === 'skipped' ? skipped : tick.status === undefined ? fired : runStatusBadges[tick.status];

export const reasonTexts: Readonly<Record<Extract<ScheduleTick, { outcome: 'skipped' }>['reason'], string>> =
  {
    missed: 'No server was running in time, and the missed-tick rule skipped it',
    overlap: 'The previous run had not ended, and the overlap rule skipped it',
    no_runner: 'No runner was connected to this development environment',
    no_task: 'The current version does not have this scheduled task',
    archived: 'The environment was archived',
    failed: 'Its run could not be created; the log of the server has the reason',
  };

export const overlapTexts: Readonly<Record<Schedule['overlap'], string>> = {
  allow: 'Start it anyway',
  skip: 'Skip the tick',
  queue: 'Start it after the previous run',
  cancel: 'Cancel the previous run',
};

/** @example missedText('all:6h') // 'Run all of the last 6h' */
export const missedText = (rule: string): string =>
  rule === 'once'
    ? 'Run the latest one'
    : rule === 'skip'
      ? 'Run none'
      : `Run all of the last ${rule.replace(/^all:/, '')}`;
