import type { OperationsOf } from '@millrace/contract';
import { recordHere } from '../audit/record.ts';
import type { HandlersOf } from '../request.ts';
import type { RegisterDependencies } from './register.ts';
import { registerVersion } from './register.ts';

/** `onRegistered` is called with the environment, in which queued runs may now have a runner. */
export function workerHandlers(
  dependencies: RegisterDependencies,
  onRegistered: (env: number) => void,
): HandlersOf<OperationsOf<'versions'>> {
  return {
    async registerVersion(request) {
      const { environment, body } = request;
      // Not audited in dev, where every save registers a version.
      const record = environment.kind === 'dev' ? undefined : recordHere(environment, request);
      const registered = await registerVersion(dependencies, environment, body, record);
      onRegistered(environment.id);
      return registered;
    },
  };
}
