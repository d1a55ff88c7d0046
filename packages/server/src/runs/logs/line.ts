import type { LogLine } from '@millrace/contract/runner';
import { responseObject } from '../../json/response.ts';

/** The properties of a line, in a form that can always be returned. */
export const propertiesOf = ({
  properties,
}: Pick<StoredLine, 'properties'>): Record<string, unknown> | undefined =>
  properties === null ? undefined : responseObject(properties);

export interface StoredLine {
  readonly id: string;
  readonly attempt: number;
  readonly at: Date;
  readonly level: LogLine['level'];
  readonly message: string;
  readonly properties: string | null;
}
