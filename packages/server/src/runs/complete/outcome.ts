import type { Operations, Reply, Run, RunStatus, Span } from '@millrace/contract';
import { isFinal, storedType } from '@millrace/contract';
import type { SerializedError } from '@millrace/contract/runner';
import { readPacketText } from '../../payloads/read.ts';
import type { Engine } from '../engine/engine.ts';
import { propertiesOf } from '../logs/line.ts';
import { readLines } from '../logs/read.ts';
import { resultError } from '../retrieve/result-error.ts';
import { retrieveRun } from '../retrieve/retrieve.ts';

type Result = Reply<Operations['retrieveRunResult']>;

/** The output or error of a run; undefined until it has ended. */
export async function resultOf({ sql }: Engine, env: number, run: string): Promise<Result | undefined> {
  const [row] = await sql<
    {
      task: string;
      status: RunStatus | null;
      output: string | null;
      output_type: string | null;
      error: SerializedError | null;
      duration_ms: string;
    }[]
  >`
    select task, status, output, output_type, error, duration_ms from runs where env = ${env} and id = ${run}`;
  if (!row || row.status === null || !isFinal(row.status)) return undefined;
  if (row.status !== 'COMPLETED') {
    return { ok: false, id: run, error: resultError(row.error, row.status), taskIdentifier: row.task };
  }
  const stored = row.output_type === storedType && (await readPacketText(sql, env, row.output ?? ''));
  const output = stored ? stored.text : row.output;
  return {
    ok: true,
    id: run,
    ...(output !== null && { output }),
    outputType: (stored ? stored.type : row.output_type) ?? 'application/json',
    usage: { durationMs: Number(row.duration_ms) },
    taskIdentifier: row.task,
  };
}

/** Maximum lines in the list of events, which has one page. */
export const maxEvents = 1_000;

export async function eventsOf(
  engine: Engine,
  env: number,
  run: string,
): Promise<Reply<Operations['listRunEvents']>> {
  const { lines } = await readLines(engine.sql, env, run, { limit: maxEvents + 1 });
  const events = lines.slice(0, maxEvents).map((line) => ({
    id: line.id,
    runId: run,
    attempt: line.attempt,
    at: line.at.toISOString(),
    level: line.level,
    message: line.message,
    properties: propertiesOf(line),
  }));
  const next = lines[maxEvents];
  if (next) {
    const message = `… more lines follow: this list is limited to ${maxEvents} lines. GET /api/v1/runs/${run}/logs returns all of them.`;
    const { id, attempt, at } = next;
    events.push({
      id,
      runId: run,
      attempt,
      at: at.toISOString(),
      level: 'warn',
      message,
      properties: undefined,
    });
  }
  return { events };
}

type Mentioned = Omit<
  Run,
  'relatedRuns' | 'payload' | 'output' | 'error' | 'attemptCount' | 'queue' | 'schedule'
>;

/** A run and its direct children as spans, from the start of the first attempt to the end of the last. */
export async function traceOf(
  engine: Engine,
  env: number,
  id: string,
): Promise<Reply<Operations['retrieveRunTrace']> | undefined> {
  const run = await retrieveRun(engine, env, id);
  if (!run) return undefined;
  const now = engine.clock.now();
  const rootSpan = spanOf(run, now, undefined, run.queue);
  rootSpan.children = (run.relatedRuns.children ?? []).map((child) => spanOf(child, now, run.id));
  return { trace: { traceId: run.relatedRuns.root?.id ?? run.id, rootSpan } };
}

function spanOf(run: Mentioned, now: number, parentId?: string, queueName?: string): Span {
  const startTime = run.startedAt ?? run.createdAt;
  const end = run.finishedAt === undefined ? now : Date.parse(run.finishedAt);
  return {
    id: run.id,
    parentId,
    runId: run.id,
    data: {
      message: run.taskIdentifier,
      taskSlug: run.taskIdentifier,
      startTime,
      duration: Math.max(0, end - Date.parse(startTime)),
      isError: run.isFailed,
      isPartial: !run.isCompleted,
      isCancelled: run.isCancelled,
      level: 'TRACE',
      workerVersion: run.version,
      queueName,
    },
    children: [],
  };
}
