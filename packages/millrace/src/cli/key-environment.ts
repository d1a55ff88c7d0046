import type { EnvironmentKind } from '@millrace/contract';
import { CommandFailed, exitCodes } from './exit-codes.ts';

const marker = /^(?:svc|tr)_(dev|stg|prod|preview)_/;

/** The environment of a secret key. Rejects other credentials. */
export function environmentOfKey(key: string): EnvironmentKind {
  const of = marker.exec(key)?.[1];
  if (of !== undefined) return of as EnvironmentKind;
  throw new CommandFailed(exitCodes.usage, 'The key is not a secret key (svc_<env>_sk_…) of an environment.');
}

/** Whether it is a secret key of the preview environment, whose requests name a branch. */
export const isPreviewKey = (key: string): boolean => marker.exec(key)?.[1] === 'preview';

/** Checks that the key belongs to the environment in --env, so that nothing is changed in another one by mistake. */
export function refuseOtherKey(key: string, env: EnvironmentKind): void {
  const of = environmentOfKey(key);
  if (of !== env) {
    throw new CommandFailed(
      exitCodes.usage,
      `The key belongs to ${of}, but --env is ${env}. Use the key of ${env}.`,
    );
  }
}
