import type { operations } from '@millrace/contract';
import type { HandlersOf } from '../request.ts';
import type { RegisterDependencies } from './register.ts';
import { registerVersion } from './register.ts';

/** `onRegistered` is told the environment: its runs may find a runner now. */
export function workerHandlers(
  dependencies: RegisterDependencies,
  onRegistered: (env: number) => void,
): HandlersOf<Pick<typeof operations, 'registerVersion'>> {
  return {
    async registerVersion({ environment, body }) {
      const registered = await registerVersion(dependencies, environment.id, body);
      onRegistered(environment.id);
      return registered;
    },
  };
}
