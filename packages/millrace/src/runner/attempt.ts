import { machineMemory } from '@millrace/contract/runner';
import type { BriefAssignment, MachinePreset, Wait } from '@millrace/contract/runner';
import type { ServedTask } from '../bundle/versions-file.ts';
import type { Executor } from './executor.ts';

/** One attempt that this runner holds and has not settled. */
export interface Attempt {
  readonly assignment: BriefAssignment;
  /** Milliseconds, monotonic, as all times here. */
  readonly receivedAt: number;
  /** Where it runs; null while it waits. */
  executor: Executor | null;
  /** The revision of the environment's variables in the process that it was last in. */
  variablesRevision: number | undefined;
  /** Since when its code may be running; null before. */
  startedAt: number | null;
  /** Some of its code may have run, be it in a process that is gone: it cannot be given back. */
  touched: boolean;
  /** It was in a process that died, nobody knows why. It runs alone until it is done. */
  suspect: boolean;
  /** How many processes died before they could start it. */
  failedStarts: number;
  /** When it was asked to stop. */
  canceledAt: number | null;
  /** What it waits for, by key. */
  readonly waits: Map<string, Wait>;
  /** Since when it is suspended: it takes no slot, and its time stands still. */
  suspendedAt: number | null;
  /** The last spell of suspension that it came back from. */
  resumedSpell: number;
  /** Waits that are over, of which it is told once it has a slot again; null while it has none to come back to. */
  returning: string[] | null;
}

export const newAttempt = (assignment: BriefAssignment, now: number): Attempt => ({
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
  resumedSpell: 0,
  returning: null,
});

/** The machine that a run asks for: its own, or its task's. */
export const machineOf = ({ assignment: { machine } }: Attempt, task: ServedTask): MachinePreset | null =>
  typeof machine === 'string' && Object.hasOwn(machineMemory, machine)
    ? (machine as MachinePreset)
    : task.machine;
