import type { MachinePreset } from '@millrace/contract/runner';

/** CPUs and GiB of the machine presets of the published SDK, smallest first. Here a run shares the CPUs of its runner. */
export const machines: Readonly<Record<MachinePreset, readonly [cpu: number, memory: number]>> = {
  micro: [0.25, 0.25],
  'small-1x': [0.5, 0.5],
  'small-2x': [1, 1],
  'medium-1x': [1, 2],
  'medium-2x': [2, 4],
  'large-1x': [4, 8],
  'large-2x': [8, 16],
};

/** The `machine` of a task, which may name CPUs and memory instead of a preset, as before 4.0. */
export interface DeclaredMachine {
  readonly preset?: string;
  readonly cpu?: number;
  readonly memory?: number;
}

/** The declared preset, or the smallest one with the declared CPUs and memory. */
export function presetOf({ preset, cpu = 0, memory = 0 }: DeclaredMachine): string | undefined {
  if (preset !== undefined) return preset;
  if (cpu === 0 && memory === 0) return undefined;
  const fitting = Object.entries(machines).find(
    ([, [cpus, gigabytes]]) => cpus >= cpu && gigabytes >= memory,
  );
  // The manifest is rejected with this name, as for a preset that does not exist.
  return fitting?.[0] ?? `${cpu} CPUs with ${memory} GiB`;
}
