import type { Operations, OperationsOf } from '@millrace/contract';
import type { VariableCache } from '../envvars/variable-cache.ts';
import type { Sql } from '../db/connect.ts';
import type { Channels } from '../channels/channels.ts';
import { inputStream, type ChannelKey } from '../channels/key.ts';
import { badRequest, notFound } from '../problem.ts';
import type { EventStreams } from '../channels/sse/event-streams.ts';
import type { HandlersOf, Request } from '../request.ts';
import { findRun, findRunToSend } from '../runs/access/authorize.ts';
import type { EndMessageWaits } from '../runs/waits/messages.ts';
import { readPartId, recordOfText } from '../sessions/append.ts';
import { followChannel } from '../sessions/follow.ts';

export interface InputDependencies {
  readonly sql: Sql;
  readonly channels: Channels;
  readonly streams: EventStreams;
  readonly redactor: VariableCache['redactor'];
  readonly endMessageWaits: EndMessageWaits;
}

/** Messages to the code of a run. Its process creates the stream before it waits, so that no message is missed. */
export function inputHandlers(dependencies: InputDependencies): HandlersOf<OperationsOf<'inputStreams'>> {
  const { sql, channels, redactor, endMessageWaits } = dependencies;

  const open = async (
    request: Request<Operations['sendToInputStream']> | Request<Operations['openInputStream']>,
  ): Promise<ChannelKey> => {
    const { id } = await findRunToSend(sql, request, notFound('Run not found', false, 'run_not_found'));
    const env = request.environment.id;
    const [ended] = await sql<{ status: string }[]>`
      select status from runs where env = ${env} and id = ${id} and status is not null`;
    if (ended) throw badRequest(`The run has ended (${ended.status}) and no longer reads messages.`);
    const key = inputStream(env, id, request.params.stream);
    await channels.open([{ key }]);
    return key;
  };

  return {
    async sendToInputStream(request) {
      const key = await open(request);
      // The same for all attempts of one call.
      const partId = readPartId(
        request.header('x-part-id') ?? request.header('x-trigger-request-idempotency-key'),
      );
      const text = JSON.stringify(request.body.data ?? null);
      const record = recordOfText(text, partId);
      const found = await redactor(key.env);
      const { end } = await channels.append(key, [{ ...record, body: found.json(record.body) }], { partId });
      await endMessageWaits({ env: key.env, channel: key.id, last: end - 1 });
      return { ok: true };
    },

    async openInputStream(request) {
      await open(request);
      return { ok: true };
    },

    async followInputStream(request) {
      const { id } = await findRun(sql, request, notFound('Run not found', true, 'run_not_found'));
      const key = inputStream(request.environment.id, id, request.params.stream);
      return followChannel(dependencies, request, key, key.id, 'in');
    },
  };
}
