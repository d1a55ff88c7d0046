import type { OverlapRule } from '@millrace/contract';
import { unprocessable } from '../problem.ts';

/** The rule for late ticks: how late they may still run, and whether the latest one always runs. */
export interface MissedRule {
  /** Ticks that should have started longer ago than this are missed. */
  readonly withinMs: number;
  /** If only missed ticks are due, the latest of them runs anyway. */
  readonly latest: boolean;
}

export const defaultMissed = 'once';
export const defaultOverlap: OverlapRule = 'allow';

/** A tick that is late by up to this much does not count as missed, so that a restart or a busy database never drops one. */
export const graceMs = 60_000;
const maxMs = 7 * 86_400_000;
const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads `skip`, `once` or `all:<time>`, whose form has been validated. */
export function readMissedRule(text: string): MissedRule {
  if (text === 'skip') return { withinMs: graceMs, latest: false };
  if (text === 'once') return { withinMs: graceMs, latest: true };
  const withinMs = Number(text.slice(4, -1)) * (unitMs[text.slice(-1)] as number);
  if (withinMs > maxMs) throw unprocessable(`missed: ${text} is longer than 7 days. Use at most 'all:7d'.`);
  return { withinMs: Math.max(withinMs, graceMs), latest: false };
}

/** The queue of schedules whose ticks wait for each other: one slot for each schedule, which uses its id as the concurrency key. */
export const oneByOneQueue = 'schedules/one-by-one';
