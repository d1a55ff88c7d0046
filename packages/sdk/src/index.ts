export { task, queue } from './task/task.ts';
export { tasks } from './task/index.ts';
export type { TaskDetail, TaskInfo } from './task/list.ts';
export type { Context } from './task/context.ts';
export type {
  EventTaskOptions,
  QueueOptions,
  RetentionByStatus,
  RunArguments,
  SchemaTaskOptions,
  TaskOptions,
  TaskSettings,
} from './task/definition.ts';
export type { TriggerOptions } from './task/trigger-options.ts';
export type { BatchHandle } from './batch/handle.ts';
export type { ListBatchesParams, ListedBatch } from './batch/list.ts';
export type { Batch } from './batch/retrieve.ts';
export { BatchNotSealedError } from './batch/send-batch.ts';
export { idempotencyKeys } from './idempotency-keys/index.ts';
export type { IdempotencyKeyOptions, IdempotencyKeyScope } from './idempotency-keys/create.ts';
export type {
  AnyTask,
  ItemOf,
  RunHandle,
  Task,
  TaskId,
  TaskInput,
  TaskOutput,
  TriggerArguments,
} from './task/types.ts';
export { SubtaskError, type RunResult } from './task/run-result.ts';
export { batch } from './batch/index.ts';
export type { BatchOptions, BatchResult } from './batch/types.ts';
export type { ItemById, ItemByTask } from './batch/trigger-and-wait.ts';
export { wait } from './wait/index.ts';
export type { CreateTokenOptions } from './wait/create-token.ts';
export type { ListTokensParams } from './wait/list-tokens.ts';
export type { ResultPromise, WaitResult } from './wait/result-promise.ts';
export type { WaitTime, WaitUntil } from './wait/time.ts';
export {
  WaitTimeoutError,
  type CreatedToken,
  type RetrievedToken,
  type TokenReference,
  type WaitpointToken,
} from './wait/token.ts';
export { step } from './step/index.ts';
export type { ParallelOptions } from './step/parallel.ts';
export type { StepArguments, StepOptions } from './step/run.ts';
export { StepError, StepMismatchError, StepTimeoutError } from './step/step-error.ts';
export type { TriggeredRun } from './step/trigger.ts';
export type { ReceivedEvent, WaitForEventOptions } from './step/wait-for-event.ts';
export { runs } from './runs/index.ts';
export type { AttemptsOptions, RunAttempt, RunWaitedFor } from './runs/attempts.ts';
export { PollTimeoutError, type PollOptions } from './runs/poll.ts';
export type { BulkAction, BulkReference, BulkRuns, BulkRunsFilter } from './runs/bulk/bulk-action.ts';
export type { BulkPollOptions } from './runs/bulk/index.ts';
export type { LogOptions, RunLog } from './runs/logs.ts';
export type { RunCount } from './runs/count.ts';
export type { ListedRun, ListProjectRunsParams, ListRunsParams, PathValue } from './runs/list.ts';
export type { DeclaredPath } from './runs/paths.ts';
export type { RunSpan } from './runs/spans.ts';
export { logs } from './logs/index.ts';
export type { FoundLog, LogFilter } from './logs/filter.ts';
export type { FollowLogsOptions, FollowRunLogsOptions } from './logs/follow.ts';
export type { SearchLogsParams } from './logs/search.ts';
export type { ReplayOptions } from './runs/replay.ts';
export type { RescheduleOptions } from './runs/reschedule.ts';
export type { Reason } from './runs/reason.ts';
export type { RelatedRun, Run, RunReference } from './runs/run.ts';
export type { RunTimeline, TimelineEntry, TimelineOptions } from './runs/timeline.ts';
export type { RunStep, StepsOptions } from './runs/steps.ts';
export type { SubscribeOptions, SubscribeToTagOptions, WatchedRun } from './runs/subscribe.ts';
export type { OfRun } from './runs/own-run.ts';
export { stats } from './stats/index.ts';
export type {
  RetrieveStatsParams,
  Stats,
  StatsCounts,
  StatsPoint,
  StatsSeries,
  StatsTimes,
} from './stats/retrieve.ts';
export { queues } from './queues/index.ts';
export type { EnvironmentConcurrency, EnvironmentConcurrencyChange } from './queues/concurrency.ts';
export type { TaskBatchOptions } from './task/batch.ts';
export type { RateLimitOptions } from './task/rate-limit.ts';
export type { ListQueuesParams } from './queues/list.ts';
export type { Queue, QueueName, QueueReference } from './queues/queue.ts';
export type { QueueKey, RetrieveQueueOptions } from './queues/retrieve.ts';
export type { KeyWeight } from './queues/key-weights.ts';
export type { SharedLimit } from './queues/shared-limits.ts';
export { tags } from './tags/index.ts';
export { metadata, type Metadata } from './metadata/index.ts';
export { errors } from './errors/index.ts';
export type { ErrorGroup, ErrorGroupDetail, ErrorReference } from './errors/error-group.ts';
export type { ErrorChange } from './errors/history.ts';
export type { IgnoreOptions } from './errors/ignore.ts';
export type { ListErrorsParams } from './errors/list.ts';
export type { ErrorFingerprint } from './errors/merge.ts';
export type { ResolveOptions } from './errors/resolve.ts';
export type { RetrieveErrorOptions } from './errors/retrieve.ts';
export type { ErrorTrend } from './errors/trend.ts';
export type { ErrorRuleChange, NewErrorRule, PreviewedRule, RulePatterns } from './errors/rules/change.ts';
export type { ErrorRule, OfProject } from './errors/rules/rule.ts';
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
export type { ListTicksOptions, ScheduleTick } from './schedules/ticks.ts';
export type { UpcomingTick } from './schedules/preview.ts';
export type { ScheduledTaskOptions, ScheduledTaskPayload } from './schedules/task.ts';
export { branches } from './branches/index.ts';
export type { ArchiveBranchOptions } from './branches/archive.ts';
export type { Branch } from './branches/branch.ts';
export type { CreateBranchOptions } from './branches/create.ts';
export { deployments } from './deployments/index.ts';
export type {
  DeployedTask,
  Deployment,
  DeploymentDetails,
  DeploymentReference,
} from './deployments/deployment.ts';
export type { ListDeploymentsParams } from './deployments/list.ts';
export type { MovableStatus, Moved, MoveOptions } from './deployments/move.ts';
export type { Promoted, PromoteOptions } from './deployments/promote.ts';
export type { SourceLines, SourcePosition } from './deployments/source.ts';
export { alerts } from './alerts/index.ts';
export type {
  Alert,
  AlertDetail,
  AlertSettings,
  AlertSubject,
  CreateAlertOptions,
  UpdateAlertOptions,
} from './alerts/alert.ts';
export { notifications } from './notifications/index.ts';
export type { ListDeliveriesParams } from './notifications/deliveries.ts';
export type {
  CreateEndpointOptions,
  NotificationDelivery,
  NotificationEndpoint,
  UpdateEndpointOptions,
} from './notifications/endpoint.ts';
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
export { webhook, type WebhookEvent, type WebhookOptions } from './webhooks/webhook.ts';
export type {
  HmacWebhook,
  SignedWebhook,
  UnverifiedWebhook,
  WebhookVerification,
} from './webhooks/verification.ts';
export { streams, type ReadStreamOptions, type StreamTarget } from './streams/index.ts';
export { sessions } from './sessions/index.ts';
export { SessionClosedError } from './sessions/ended.ts';
export { SessionTimeoutError, type Message, type SessionIn, type WaitOptions } from './sessions/in.ts';
export type { ReadOptions, SessionOut, Writer } from './sessions/out.ts';
export type { ListSessionsParams } from './sessions/list.ts';
export type { SessionHandle } from './sessions/open.ts';
export type { Control } from './sessions/records.ts';
export type {
  ListedSession,
  Session,
  SessionReference,
  SessionRuns,
  StartedSession,
} from './sessions/session.ts';
export type { StartSessionOptions } from './sessions/start.ts';
export type { UpdateSessionOptions } from './sessions/update.ts';
export { locals, type LocalKey } from './hooks/locals.ts';
export type {
  CancelArguments,
  CatchErrorArguments,
  CatchErrorResult,
  CompleteArguments,
  FailureArguments,
  HookArguments,
  HookResult,
  Hooks,
  MiddlewareArguments,
  SuccessArguments,
} from './hooks/types.ts';
export { logger } from './logger/logger.ts';
export { trace, type TraceAttributes, type TraceSpan } from './tracing/trace.ts';
export { AbortTaskRunError } from './retry/abort-task-run-error.ts';
export { OutOfMemoryError } from './retry/out-of-memory-error.ts';
export type { RetryOptions } from './retry/backoff.ts';
export { retry } from './retry/index.ts';
export type { OnThrowArguments, OnThrowOptions } from './retry/on-throw.ts';
export type { BackoffStrategy, FetchOptions, FetchRetryOptions, HeadersStrategy } from './retry/fetch.ts';
export { auth } from './auth/index.ts';
export type {
  CreatePublicTokenOptions,
  CreateTriggerPublicTokenOptions,
  PublicTokenOptions,
} from './auth/public-tokens.ts';
export type { PublicTokenResource, PublicTokenScopes, ScopedTo } from './auth/scopes.ts';
export {
  SealedError,
  type Clearable,
  type Codec,
  type CodecContext,
  type SealedText,
} from './sealing/codec.ts';
export { isSealed, type Envelope } from './sealing/envelope.ts';
export { configure } from './client/current-client.ts';
export { MillraceClient } from './client/millrace-client.ts';
export type { TasksIn, TypedBatch, TypedTasks } from './client/typed-tasks.ts';
export { ConfigurationError, type ClientSettings, type RequestRetryOptions } from './client/settings.ts';
export type { Page, PageList } from './client/page.ts';
export { UnserializableError } from './payload/unserializable-error.ts';
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
