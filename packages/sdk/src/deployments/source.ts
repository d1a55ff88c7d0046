import type { SourceLines } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { versionOf, type DeploymentReference } from './deployment.ts';

export type { SourceLines };

/** A position in the code of a version. */
export interface SourcePosition {
  /** As in a stack trace, or relative to the project, such as `src/orders.ts`. */
  file: string;
  /** Starts at 1. */
  line: number;
}

/**
 * A source line of a version, such as that of a stack frame, with up to five lines before and after it. If the source is not available, `note`
 * has the reason. Requires a key without restrictions. Throws a NotFoundError for an unknown version.
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
