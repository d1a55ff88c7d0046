import type { TaskDefinition } from './definition.ts';

/** A declared task, exported or not. */
export interface DeclaredTask {
  readonly definition: TaskDefinition;
  /** Created where the task was declared; its stack contains the file and the line. */
  readonly at: Error;
}

// Global, because there may be several copies of this package. Not set in programs that only trigger, to save memory.
const slot = Symbol.for('@millrace/sdk/declared-tasks');
const holder = globalThis as { [slot]?: DeclaredTask[] };

/** The list to which every later declaration is added. */
export const collectDeclaredTasks = (): readonly DeclaredTask[] => (holder[slot] ??= []);

export function noteDeclaredTask(definition: TaskDefinition): void {
  holder[slot]?.push({ definition, at: new Error(`task ${definition.id}`) });
}
