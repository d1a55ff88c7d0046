export { task, queue } from './task/task.ts';
export { tasks } from './task/index.ts';
export type { Context } from './task/context.ts';
export type {
  QueueOptions,
  RunArguments,
  SchemaTaskOptions,
  TaskOptions,
  TaskSettings,
} from './task/definition.ts';
export type { TriggerOptions } from './task/trigger-options.ts';
export type {
  AnyTask,
  RunHandle,
  Task,
  TaskId,
  TaskInput,
  TaskOutput,
  TriggerArguments,
} from './task/types.ts';
export { runs } from './runs/index.ts';
export { PollTimeoutError, type PollOptions } from './runs/poll.ts';
export type { LogOptions, RunLog } from './runs/logs.ts';
export type { RelatedRun, Run, RunReference } from './runs/run.ts';
export { errors } from './errors/index.ts';
export type { ErrorGroup, ErrorGroupDetail, ErrorReference } from './errors/error-group.ts';
export type { ListErrorsParams } from './errors/list.ts';
export type { ResolveOptions } from './errors/resolve.ts';
export { logger } from './logger/logger.ts';
export { AbortTaskRunError } from './retry/abort-task-run-error.ts';
export type { RetryOptions } from './retry/backoff.ts';
export { configure } from './client/current-client.ts';
export { ConfigurationError, type ClientSettings, type RequestRetryOptions } from './client/settings.ts';
export type { Page, PageList } from './client/page.ts';
export { UnserializableError } from './payload/encode.ts';
export type { Serialized } from './payload/serialized.ts';
export {
  ApiConnectionError,
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnexpectedReplyError,
  UnprocessableEntityError,
  type ErrorDetail,
} from './client/api-error.ts';
