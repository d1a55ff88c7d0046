import { registering } from './global.ts';

/**
 * Hooks for all tasks of the project. Register them in a module that task files import, such as `tasks/init.ts`. They run before the task's own
 * hooks.
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
