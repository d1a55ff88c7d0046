import type { EnvironmentKind } from '@millrace/contract/plain';
import type { ConnectionOptions } from '../connection.ts';

export interface ImportTriggerOptions extends ConnectionOptions {
  readonly apply?: boolean;
  readonly from: string;
  readonly fromToken?: string;
  readonly fromKey?: string;
  readonly fromProject?: string;
  readonly fromEnv?: EnvironmentKind;
  readonly only?: 'variables' | 'schedules';
  readonly override?: boolean;
  readonly inactive?: boolean;
  readonly runs?: string;
  readonly period: string;
  readonly json?: boolean;
}
