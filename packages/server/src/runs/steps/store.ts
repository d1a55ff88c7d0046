import {
  maxJsonLevels,
  maxPacketBytes,
  sealedType,
  storedType,
  type Body,
  type Operations,
} from '@millrace/contract';
import type { SerializedError } from '@millrace/contract/runner';
import type { MasterKey } from '../../auth/seal.ts';
import { column, texts } from '../../db/columns.ts';
import { groupCommit } from '../../db/group.ts';
import { newId } from '../../db/ids.ts';
import { redactTexts } from '../../envvars/redact/messages.ts';
import type { Redactor } from '../../envvars/redact/redactor.ts';
import { isTooDeepParts } from '../../json/levels.ts';
import { inTurns, type InParts } from '../../json/parts.ts';
import { storeLargeText } from '../../payloads/store-large-output.ts';
import { Problem, unprocessable } from '../../problem.ts';
import type { Engine } from '../engine/engine.ts';
import { storableJson, storableText } from '../values/storable.ts';
import { sealResult } from './sealed.ts';

type StepReport = Body<Operations['storeRunStep']>;

/** A step reported by the code of a run. */
export interface NewStep {
  readonly env: number;
  readonly run: string;
  readonly report: StepReport;
  readonly redactor: Redactor;
}

export interface StoredAt {
  readonly isNew: boolean;
  readonly at: number;
  readonly detail?: string;
}

/** A step in its stored form. */
interface Row extends NewStep {
  readonly detail: string | null;
  readonly output: string | null;
  readonly outputType: string | null;
  readonly sealed: string | null;
  readonly sealedId: string | null;
  readonly error: string | null;
}

/** Maximum characters of one write. */
const maxWritten = 2 * 1024 * 1024;

/** Stores the result of a step, once. 409 if the reporting attempt no longer has its run. Concurrent calls share a statement and a commit. */
export function createStoreStep(engine: Engine, masterKey: MasterKey): (step: NewStep) => Promise<StoredAt> {
  const write = groupCommit<Row, StoredAt | undefined>((rows) => writeSteps(engine, rows), {
    maxItems: 50,
    maxSize: maxWritten,
    sizeOf: ({ output, sealed }) => (output?.length ?? 0) + (sealed?.length ?? 0),
    tenantOf: ({ env }) => env,
  });
  return async (step) => {
    const stored = await write(await rowOf(engine, masterKey, step));
    if (stored) return stored;
    throw new Problem('attempt_ended', 'This attempt has ended; its step is rejected.', {}, false);
  };
}

/** The readable form has no secrets. Code that executes again needs the original result; if it differs, it is stored encrypted. */
async function rowOf(engine: Engine, masterKey: MasterKey, step: NewStep): Promise<Row> {
  const { env, run, redactor, report } = step;
  const { name, status, error, output, outputType = 'application/json', detail = null } = report;
  if ((status === 'FAILED') !== (error !== undefined))
    throw unprocessable('error: required for a step that FAILED, and not allowed for any other.');
  if (redactor.text(name) !== name)
    throw unprocessable('name: contains a secret. Leave it out: step names are visible.');
  const row: Row = {
    ...step,
    detail: detail === null ? null : storableText(redactor.text(detail)),
    output: null,
    outputType: null,
    sealed: null,
    sealedId: null,
    error:
      error === undefined ? null : storableJson(redactTexts(redactor, error as unknown as SerializedError)),
  };
  if (output === undefined) return row;
  const clean = await inTurns(cleanOutput(redactor, name, output, outputType));
  const sealedId = clean === output ? null : newId('step');
  const stored = await storeLargeText(engine, { env, run, text: clean, type: outputType });
  return {
    ...row,
    output: stored?.name ?? clean,
    outputType: stored ? storedType : outputType,
    sealedId,
    sealed:
      sealedId === null ? null : sealResult(masterKey, sealedId, { output, outputType }).toString('base64'),
  };
}

/** A result without secrets. A large result is processed in several turns. */
function* cleanOutput(redactor: Redactor, name: string, output: string, type: string): InParts<string> {
  const isJson = type.includes('json');
  if (Buffer.byteLength(output) > maxPacketBytes) {
    const message = `The result of step "${name}" is larger than ${maxPacketBytes} bytes. Store it elsewhere and return a reference.`;
    throw new Problem('too_large', message, {}, false);
  }
  if (output.includes('\0')) throw unprocessable(`The result of step "${name}" contains a NUL character.`);
  yield;
  if (isJson && (yield* isTooDeepParts(output))) {
    throw unprocessable(
      `The result of step "${name}" is nested more than ${maxJsonLevels} levels deep. Return a flatter value.`,
    );
  }
  return type === sealedType ? output : yield* redactor.parts(output, isJson);
}

interface WrittenRow {
  readonly env: number;
  readonly run_id: string;
  readonly fence: string;
  readonly name: string;
  readonly is_new: boolean;
  readonly at: Date;
  readonly detail: string | null;
}

/** The key of one attempt's call. Attempts do not share rows, because only one of them owns the run. */
const keyOf = (env: number, run: string, fence: number, name: string): string =>
  `${env} ${run} ${fence} ${name}`;
const keyOfRow = ({ env, run, report }: Row): string => keyOf(env, run, report.fence, report.name);

async function writeSteps({ sql, clock }: Engine, calls: readonly Row[]): Promise<(StoredAt | undefined)[]> {
  const now = clock.now();
  // A call may be repeated while the first is in progress.
  const rows = [...new Map(calls.map((row) => [keyOfRow(row), row])).values()];
  const pick = (read: (row: Row) => string | number | null | undefined) => column(rows, read);
  const detailOf = ({ report: { sleepMs }, detail }: Row) =>
    sleepMs === undefined ? detail : new Date(Math.ceil(now + sleepMs)).toISOString();
  const written = await sql<WrittenRow[]>`
    select env, run_id, fence, name, is_new, at, detail from store_steps(
      ${new Date(now)}, ${pick((row) => row.env)}::int[], ${pick((row) => row.run)}::text[],
      ${pick((row) => row.report.fence)}::bigint[], ${pick((row) => row.report.name)}::text[], ${pick((row) => row.report.kind)}::text[],
      ${pick((row) => row.report.status)}::text[], ${pick((row) => row.report.seq)}::int[], ${pick((row) => row.report.tries)}::int[],
      ${pick((row) => row.report.tookMs)}::double precision[], ${pick(detailOf)}::text[], ${texts(sql, rows, (row) => row.output)},
      ${pick((row) => row.outputType)}::text[], ${texts(sql, rows, (row) => row.sealed)}, ${pick((row) => row.sealedId)}::text[],
      ${pick((row) => row.error)}::text[], ${column(rows, (row) => row.report.isSequential === true)}::boolean[])`;
  const found = new Map(written.map((row) => [keyOf(row.env, row.run_id, Number(row.fence), row.name), row]));
  return calls.map((call) => {
    const row = found.get(keyOfRow(call));
    return (
      row && {
        isNew: row.is_new,
        at: row.at.getTime(),
        ...(row.detail !== null && { detail: row.detail }),
      }
    );
  });
}
