export { task, queue } from './task/task.ts';
export { tasks } from './task/index.ts';
export type { Context } from './task/context.ts';
export type {
  EventTaskOptions,
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
export type { ListedRun, ListProjectRunsParams, ListRunsParams } from './runs/list.ts';
export type { ReplayOptions } from './runs/replay.ts';
export type { RescheduleOptions } from './runs/reschedule.ts';
export type { Reason } from './runs/reason.ts';
export type { RelatedRun, Run, RunReference } from './runs/run.ts';
export type { OfRun } from './runs/own-run.ts';
export { queues } from './queues/index.ts';
export type { EnvironmentConcurrency, EnvironmentConcurrencyChange } from './queues/concurrency.ts';
export type { ListQueuesParams } from './queues/list.ts';
export type { Queue, QueueName, QueueReference } from './queues/queue.ts';
export { tags } from './tags/index.ts';
export { metadata, type Metadata } from './metadata/index.ts';
export { errors } from './errors/index.ts';
export type { ErrorGroup, ErrorGroupDetail, ErrorReference } from './errors/error-group.ts';
export type { ListErrorsParams } from './errors/list.ts';
export type { ResolveOptions } from './errors/resolve.ts';
export { schedules } from './schedules/index.ts';
export type {
  CreateScheduleOptions,
  DeclaredCron,
  Schedule,
  ScheduleReference,
  UpdateScheduleOptions,
} from './schedules/schedule.ts';
export type { Backfilled, BackfillOptions } from './schedules/backfill.ts';
export type { ListSchedulesParams } from './schedules/list.ts';
export type { UpcomingTick } from './schedules/preview.ts';
export type { ScheduledTaskOptions, ScheduledTaskPayload } from './schedules/task.ts';
export { envvars } from './envvars/index.ts';
export type { RolledBack, VariableComparison, VariableRevision } from './envvars/history.ts';
export type { CreateVariable, EnvironmentVariable, Success, UploadVariables } from './envvars/variable.ts';
export { events } from './events/index.ts';
export {
  event,
  type EventFilter,
  type EventOperators,
  type EventSubscription,
} from './events/subscription.ts';
export type { EventDetail, EventReference, ListedEvent, NewEvent, SentEvent } from './events/event.ts';
export type { ListEventsParams } from './events/list.ts';
export { logger } from './logger/logger.ts';
export { AbortTaskRunError } from './retry/abort-task-run-error.ts';
export type { RetryOptions } from './retry/backoff.ts';
export { auth } from './auth/index.ts';
export type {
  CreatePublicTokenOptions,
  CreateTriggerPublicTokenOptions,
  PublicTokenOptions,
} from './auth/public-tokens.ts';
export type { PublicTokenResource, PublicTokenScopes, ScopedTo } from './auth/scopes.ts';
export { configure } from './client/current-client.ts';
export { MillraceClient } from './client/millrace-client.ts';
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
