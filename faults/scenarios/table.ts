/** All scenarios, in the order in which they run. */
import { clocks } from './clocks.ts';
import { disks } from './disks.ts';
import { failovers } from './failovers.ts';
import { networks } from './networks.ts';
import { processes } from './processes.ts';
import type { Scenario } from './scenario.ts';

export const scenarios: Readonly<Record<string, Scenario>> = {
  ...failovers,
  ...networks,
  ...disks,
  ...processes,
  ...clocks,
};

/** The form that `npm run test:long` runs. */
export const shortScenarios = ['leader-killed', 'leader-cut-off', 'runner-half-open'] as const;

export const scenarioNames = Object.keys(scenarios);
