export type { Duration } from './clock/duration.ts';
export type { CrashOptions, Faults, LostReply } from './faults/faults.ts';
export { createTestKit, type DrainOptions, type TestKit, type TestKitOptions } from './kit/kit.ts';
export type { TaskDefaults, TaskSource } from './kit/tasks.ts';
export type { WaitingRun } from './kit/waiting.ts';
