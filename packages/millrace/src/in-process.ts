/** Parts of a runner for `@millrace/testing`, which executes runs in the process of the tests. */
export { maxDurationOf, withDefaults, type Task } from '@millrace/runner';
export { TimeLimit } from '@millrace/runner';
export { Waits } from '@millrace/runner';
export { Connection } from '@millrace/runner';
export { Credentials } from '@millrace/runner';
export { Outbox } from '@millrace/runner';
export { packageFolderOf } from '@millrace/platform';
