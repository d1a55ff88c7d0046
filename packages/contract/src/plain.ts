/**
 * The part of the contract that needs no schema library: words, durations and the routes of the operations. API clients import this because
 * building the schemas of all operations takes a quarter of a second.
 */
export * from './access.ts';
export * from './alert-rules.ts';
export * from './blob-path.ts';
export * from './duration.ts';
export * from './environment.ts';
export * from './error-codes.ts';
export * from './failure.ts';
export * from './foreign-page.ts';
export * from './git-remote.ts';
export * from './help.ts';
export * from './larger-machine.ts';
export * from './owner.ts';
export * from './period.ts';
export * from './readable.ts';
export * from './retention-limits.ts';
export { routes } from './routes.ts';
export * from './status.ts';
export * from './time-span.ts';
export * from './variable-rules.ts';
export * from './words.ts';
