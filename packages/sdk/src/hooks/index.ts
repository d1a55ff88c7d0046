import { registering } from './global.ts';

/**
 * Hooks for all tasks of the project: call them where a task file is imported, such as `tasks/init.ts`. They run before the task's own.
 *
 * @example
 * tasks.onFailure(async ({ task, error, ctx }) => page(`${task} ${ctx.run.id}: ${String(error)}`));
 */
export const hookRegistration = {
  middleware: registering('middleware'),
  onStart: registering('onStart'),
  onStartAttempt: registering('onStartAttempt'),
  onSuccess: registering('onSuccess'),
  onFailure: registering('onFailure'),
  onCancel: registering('onCancel'),
  onComplete: registering('onComplete'),
  catchError: registering('catchError'),
};
