'use client';

/** React hooks for Millrace. Nothing is requested while a page is rendered on a server. */
export {
  MillraceAuthContext,
  MillraceAuthContext as TriggerAuthContext,
  MillraceAuthProvider,
  useMillraceAuth,
  type MillraceAuth,
} from './auth-context.ts';
export type { SubscribeHookOptions } from './options.ts';
export { useRealtimeRun, type RealtimeRun, type UseRealtimeRunOptions } from './use-realtime-run.ts';
export {
  useRealtimeRunWithStreams,
  type RealtimeRunWithStreams,
  type StreamResults,
} from './use-realtime-run-with-streams.ts';
export {
  useRealtimeBatch,
  useRealtimeRunsWithTag,
  type RealtimeRuns,
  type UseRealtimeRunsOptions,
  type UseRealtimeRunsWithTagOptions,
} from './use-realtime-runs.ts';
export {
  useRealtimeStream,
  type DefinedStream,
  type RealtimeStream,
  type UseRealtimeStreamOptions,
} from './use-realtime-stream.ts';
export {
  useRealtimeTaskTrigger,
  useRealtimeTaskTriggerWithStreams,
  type RealtimeTaskTrigger,
  type RealtimeTaskTriggerWithStreams,
  type UseRealtimeTaskTriggerOptions,
} from './use-realtime-task-trigger.ts';
export { useRun, type RetrievedRun, type UseRunOptions } from './use-run.ts';
export { useTaskTrigger, type TaskTrigger } from './use-task-trigger.ts';
export { useWaitToken, type WaitToken } from './use-wait-token.ts';
