/** Internals of the SDK for `@millrace/react`: calls through a given client, without the rest of the SDK in the bundle of a page. */
export { ApiClient } from '../client/api-client.ts';
export { ApiError, AuthenticationError } from '../client/api-error.ts';
export { ConfigurationError, type ClientSettings, type RequestRetryOptions } from '../client/settings.ts';
export { retrieveThrough } from '../runs/retrieve.ts';
export type { Run } from '../runs/run.ts';
export {
  followBatchThrough,
  followRunThrough,
  followTagThrough,
  type WatchedRun,
} from '../runs/subscribe.ts';
export { readStreamThrough } from '../streams/read.ts';
export { triggerThrough } from '../task/trigger.ts';
export type { AnyTask, RunHandle, TaskId, TaskInput, TaskOutput, TriggerArguments } from '../task/types.ts';
export { completeTokenThrough } from '../wait/complete-token.ts';
