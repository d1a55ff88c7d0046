// The types of all tasks, for `import type * as tasks`. A task of another file gets another line.
export * from './email.ts';
