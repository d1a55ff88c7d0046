import type { TriggerOptions } from '@millrace/contract';
import { storedType, triggerBodyLimit } from '@millrace/contract';
import type { TaskManifest } from '@millrace/contract/runner';
import { tryParse } from '../../json/foreign.ts';
import { unprocessable } from '../../problem.ts';
import type { Collection, NewRun } from './row.ts';

/** Maximum total payload of a run, in bytes. The SQL function `collect_triggers` contains the same number. */
export const maxCollectedBytes = triggerBodyLimit;

const conflicting = ['delay', 'debounce', 'singleton', 'ttl'] as const;

/**
 * How the triggers of a task with `batch` are collected. `lane` is the destination of its runs: only triggers with the same destination share a
 * run.
 */
export function readCollection(
  options: TriggerOptions,
  task: string,
  manifest: TaskManifest | undefined,
  lane: readonly (string | number | boolean)[],
): Collection {
  const declared = manifest?.batch;
  if (!declared) {
    throw unprocessable(
      manifest
        ? `options.batchKey: the task "${task}" declares no batch.`
        : `options.batchKey: no current version has the task "${task}", so its batch settings are unknown.`,
    );
  }
  for (const option of conflicting) {
    if (options[option] !== undefined) {
      throw unprocessable(
        `options.${option}: the task "${task}" has a batch, which determines when its runs start. Use one of the two.`,
      );
    }
  }
  if (manifest.singleton) {
    throw unprocessable(`The task "${task}" declares both batch and singleton. Use one of the two.`);
  }
  if (options.payloadType === storedType) {
    throw unprocessable(
      `payload: packets are not supported for the task "${task}", because it has a batch. Send at most 128 KiB, or a reference.`,
    );
  }
  return { key: options.batchKey ?? '', lane: JSON.stringify(lane), ...declared };
}

/** Throws for a payload with superjson notes that the database rejects because a name contains a NUL character or a lone surrogate. */
export function checkPart(run: NewRun): void {
  if (/\\u(?:0000|d[89a-f])/i.test(partMetaOf(run) ?? '')) {
    throw unprocessable(
      'payload: contains a name with a NUL character or an unpaired surrogate, which cannot be stored.',
    );
  }
}

/** The payload of a trigger as an element of its run's array. */
export function partOf({ payload, payloadType }: NewRun): string {
  if (payload === null) return 'null';
  if (payloadType === 'text/plain') return JSON.stringify(payload);
  if (payloadType !== 'application/super+json') return payload;
  const { json } = superjson(payload);
  return JSON.stringify(json ?? null);
}

/** JSON text of superjson's notes for the element; null for plain JSON. Equal objects are written as `{ path: [paths] }`, the root as `""`. */
export function partMetaOf({ payload, payloadType }: NewRun): string | null {
  if (payload === null || payloadType !== 'application/super+json') return null;
  const { meta } = superjson(payload);
  if (!meta) return null;
  const { values, referentialEqualities: same } = meta;
  const equal = Array.isArray(same) ? { '': same[0], ...same[1] } : same;
  return JSON.stringify({ values, equal });
}

interface Superjson {
  readonly json?: unknown;
  readonly meta?: {
    readonly values?: unknown;
    readonly referentialEqualities?: Record<string, string[]> | [string[], Record<string, string[]>?];
  };
}

/** Invalid JSON is stored as a string; the attempt reports the error. */
function superjson(text: string): Superjson {
  const read = tryParse(text);
  if (read === undefined) return { json: text };
  return typeof read === 'object' && read !== null ? read : { json: read };
}
