export { maxDurationOf, type Task, withDefaults } from './executor/declared.ts';
export { platformHere } from './bundle-cache/platform.ts';
export { importOrder } from './executor/import-order.ts';
export type {
  Entry,
  FromExecutor,
  IndexedTask,
  ProcessEnvironment,
  TaskDefaults,
  TaskFiles,
} from './executor/messages.ts';
export { locateSdk, type Sdk, sdkVersion } from './executor/sdk.ts';
export { type Death, spawnExecutor, type SpawnOptions } from './executor/spawn.ts';
export { TimeLimit } from './executor/time-limit.ts';
export { Waits } from './executor/waits.ts';
export { readOutsideVariables, VariablesUnread } from './outside-variables/index.ts';
export { Connection } from './runner/connection.ts';
export { credentialHeaders } from './runner/credential-headers.ts';
export { Credentials } from './runner/credential.ts';
export { inherited } from './runner/executor-env.ts';
export type {
  AttemptEnd,
  Folder,
  FolderOptions,
  Runner,
  RunnerEvents,
  RunnerOptions,
  ServedFolder,
  VersionEvent,
} from './runner/options.ts';
export { Outbox } from './runner/outbox.ts';
export type { ServedBuild, ServedTask } from './runner/served-build.ts';
export { type PreviewsOptions, startPreviews } from './runner/start-previews.ts';
export { startRunner } from './runner/start.ts';
