import type { TaskDefinition } from './definition.ts';

/** A task as it was declared, exported or not. */
export interface DeclaredTask {
  readonly definition: TaskDefinition;
  /** Made where the task was declared: its stack says which line of which file that is. */
  readonly at: Error;
}

// Global, because there may be several copies of this package. Not there in programs that only trigger: they would hold every task for nothing.
const slot = Symbol.for('@millrace/sdk/declared-tasks');
const holder = globalThis as { [slot]?: DeclaredTask[] };

/** From now on every declaration is added to this list. */
export const collectDeclaredTasks = (): readonly DeclaredTask[] => (holder[slot] ??= []);

export function noteDeclaredTask(definition: TaskDefinition): void {
  holder[slot]?.push({ definition, at: new Error(`task ${definition.id}`) });
}
