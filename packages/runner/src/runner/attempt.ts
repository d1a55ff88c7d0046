import { machineMemory } from '@millrace/contract/runner';
import type { CompactAssignment, MachinePreset } from '@millrace/contract/runner';
import type { ServedTask } from './served-build.ts';
import type { Attempt } from './executor.ts';

export const newAttempt = (assignment: CompactAssignment, now: number): Attempt => ({
  assignment,
  receivedAt: now,
  executor: null,
  variablesRevision: undefined,
  startedAt: null,
  touched: false,
  suspect: false,
  failedStarts: 0,
  canceledAt: null,
  waits: new Map(),
  suspendedAt: null,
  resumedSuspension: 0,
  resuming: null,
});

/** The machine of a run: the one it requests, or its task's. */
export const machineOf = ({ assignment: { machine } }: Attempt, task: ServedTask): MachinePreset | null =>
  typeof machine === 'string' && Object.hasOwn(machineMemory, machine)
    ? (machine as MachinePreset)
    : task.machine;
