/**
 * Projects of the published SDK, for the CLI. `runtime` is a separate entry: it runs in executor processes, which load nothing else of this
 * package.
 */
export { applySchedules, applyVariables, type Failures, type Step } from './import/apply.ts';
export { planSchedules, type ScheduleStep } from './import/plan-schedules.ts';
export { planVariables, type VariableStep } from './import/plan-variables.ts';
export { credentialText, type From, readKey, readRuns, readSchedules, readVariables } from './import/read.ts';
export { saveRuns } from './import/save-runs.ts';
export { publishedAdditions } from './project/additions.ts';
export { dependsOnPublished } from './project/copy.ts';
export { describeCopy } from './project/describe.ts';
export { type ExtensionTarget, setsVariables, type SyncedVariables } from './project/extensions.ts';
export { ignoredFiles } from './project/ignored-files.ts';
export { publishedPlugins } from './project/plugins.ts';
export { type PublishedProject, readPublished } from './project/read.ts';
export { problemOf, refusedUses } from './uses/refused-uses.ts';
export { type Finding, usesOf } from './uses/uses.ts';
