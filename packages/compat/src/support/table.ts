import type { Entry, Kind } from './entry.ts';
import { agentRows } from './agents.ts';
import { exportRows } from './exports.ts';
import { moduleRows } from './modules.ts';
import { optionRows } from './options.ts';
import { settingRows } from './settings.ts';
import { triggerRows } from './trigger-options.ts';

export type { Entry, Kind, State } from './entry.ts';

/**
 * The support for every export and option of the published SDK, 4.0 to 4.8. `millrace doctor --from-trigger`, the check when a project is
 * loaded, and docs/moving.md use it. test/published-tasks compares it with the types of the packages.
 */
export const supportTable: readonly Entry[] = [
  ...exportRows,
  ...agentRows,
  ...moduleRows,
  ...optionRows,
  ...triggerRows,
  ...settingRows,
];

const byKey = new Map(supportTable.map((entry) => [`${entry.kind} ${entry.name}`, entry]));

export const entryOf = (kind: Kind, name: string): Entry | undefined => byKey.get(`${kind} ${name}`);

/** Whether an entry has members of its own. */
export const hasMembers = (kind: Kind, name: string): boolean =>
  supportTable.some((entry) => entry.kind === kind && entry.name.startsWith(`${name}.`));
