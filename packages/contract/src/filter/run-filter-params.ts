import { parseInstant } from '../duration.ts';
import type { MachinePreset } from '../runner/manifest.ts';
import type { RunStatus } from '../status.ts';
import type { RunFilterQuery } from './run-filter.ts';

/** A filter in the form that `runs.list` of the SDK and bulk actions accept. */
export interface RunFilterParams {
  readonly status?: RunStatus[];
  readonly taskIdentifier?: string[];
  readonly version?: string[];
  readonly tag?: string[];
  readonly queue?: { type: 'task' | 'custom'; name: string }[];
  readonly machine?: MachinePreset[];
  readonly region?: string[];
  readonly isTest?: boolean;
  readonly schedule?: string;
  readonly batch?: string;
  readonly bulkAction?: string;
  readonly error?: string;
  readonly errorText?: string;
  readonly metadata?: Record<string, string[]>;
  readonly payload?: Record<string, string[]>;
  readonly period?: string;
  /** Milliseconds since 1970. */
  readonly from?: number;
  readonly to?: number;
}

const list = (text: string | undefined): string[] | undefined => text?.split(',');
const at = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : /^\d{13}$/.test(text) ? Number(text) : parseInstant(text)?.getTime();
const paths = (text: string | undefined): Record<string, string[]> | undefined =>
  text === undefined ? undefined : (JSON.parse(text) as Record<string, string[]>);

/** The query that `runFilterQuery` returned, as parameters. */
export function runFilterParams(query: RunFilterQuery): RunFilterParams {
  const params = {
    status: list(query['filter[status]']),
    taskIdentifier: list(query['filter[taskIdentifier]']),
    version: list(query['filter[version]']),
    tag: list(query['filter[tag]']),
    queue: list(query['filter[queue]'])?.map((name) =>
      name.startsWith('task/')
        ? { type: 'task', name: name.slice('task/'.length) }
        : { type: 'custom', name },
    ),
    machine: list(query['filter[machine]']),
    region: list(query['filter[region]']),
    isTest: query['filter[isTest]'] === undefined ? undefined : query['filter[isTest]'] === 'true',
    schedule: query['filter[schedule]'],
    batch: query['filter[batch]'],
    bulkAction: query['filter[bulkAction]'],
    error: query['filter[error]'],
    errorText: query['filter[errorText]'],
    metadata: paths(query['filter[metadata]']),
    payload: paths(query['filter[payload]']),
    period: query['filter[createdAt][period]'],
    from: at(query['filter[createdAt][from]']),
    to: at(query['filter[createdAt][to]']),
  };
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
}
