/** What the executor process needs of the SDK. Not for tasks or callers of them. */
export { findTasks, type FoundTask } from './find-tasks.ts';
export { manifestOf, TaskDeclarationError } from './manifest.ts';
export { execute } from './execute.ts';
export type { AbortReason, ExecuteOptions, RunContextFacts } from './options.ts';
export { outputLimit } from './outcome.ts';
export { serializeError } from './serialize-error.ts';
export { currentRun, type RunLogLine, type RunScope, type RunWaits } from '../run-scope.ts';
export { collectDeclaredTasks, type DeclaredTask } from '../task/declared.ts';
