/** Internals of the SDK for executor processes. */
export { findTasks, type FoundTask } from './find-tasks.ts';
export { manifestOf, TaskDeclarationError } from './manifest.ts';
export { execute } from './execute.ts';
export type { AbortReason, ExecuteOptions, RunContextInfo } from './execute-options.ts';
export { endOfSession, followPath, type ChannelRecord, type FollowOptions } from './follow-messages.ts';
export { outputLimit } from './outcome.ts';
export { lineSealer } from './line-sealer.ts';
export { useProjectCodec } from '../sealing/codec.ts';
export { serializeError } from './serialize-error.ts';
export { registeredHooks } from '../hooks/global.ts';
export { projectStack, setProjectFolders } from '../project-stack.ts';
export { parsedMessage } from '../sessions/records.ts';
export { registerTracing } from './tracing/register.ts';
export { currentRun, type RunLogLine, type RunScope, type RunSpans, type RunWaits } from '../run-scope.ts';
export { collectDeclaredTasks, type DeclaredTask } from '../task/declared.ts';
