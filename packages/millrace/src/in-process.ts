/** Parts of a runner for `@millrace/testing`, which executes runs in the process of the tests. */
export { maxDurationOf, withDefaults, type Task } from './executor/declared.ts';
export { TimeLimit } from './executor/time-limit.ts';
export { Waits } from './executor/waits.ts';
export { Connection } from './runner/connection.ts';
export { Credentials } from './runner/credential.ts';
export { Outbox } from './runner/outbox.ts';
export { packageFolderOf } from './platform/package-folder.ts';
