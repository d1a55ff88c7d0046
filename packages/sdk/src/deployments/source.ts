import type { SourceLines } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { versionOf, type DeploymentReference } from './deployment.ts';

export type { SourceLines };

/** A place in the code of a version. */
export interface SourcePosition {
  /** As a stack trace has it, or relative to the project, such as `src/orders.ts`. */
  file: string;
  /** From 1 on. */
  line: number;
}

/**
 * The line at a place in the source of a version, with up to five before and after it, such as those of a frame of a stack trace. Where there
 * are none, `note` says why. Needs a key without restrictions. Throws a NotFoundError for an unknown version.
 *
 * @example
 * const { lines, note } = await deployments.source('20261121.3', { file: 'src/orders.ts', line: 14 });
 * for (const { number, text } of lines) console.log(number, text);
 */
export const source = (
  deployment: DeploymentReference,
  { file, line }: SourcePosition,
): Promise<SourceLines> =>
  currentClient().call('retrieveSource', {
    params: { version: versionOf(deployment) },
    query: { file, line },
  });
