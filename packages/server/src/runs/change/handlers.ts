import type { OperationsOf, Run } from '@millrace/contract';
import { recordHere } from '../../audit/record.ts';
import type { VariableCache } from '../../envvars/variable-cache.ts';
import { notFound } from '../../problem.ts';
import type { HandlersOf } from '../../request.ts';
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { Engine } from '../engine/engine.ts';
import { changeMetadata, readMetadata } from '../metadata/metadata.ts';
import { readRetention, updateRetention } from '../retention/retention.ts';
import { authorizePacket } from '../create/authorize-packet.ts';
import { authorizeRelative, findRun, findRunToWrite } from '../access/authorize.ts';
import { prepareReplay } from '../create/replay.ts';
import { rescheduleRun } from './reschedule.ts';
import { retrieveRun } from '../retrieve/retrieve.ts';
import type { NewRun } from '../create/row.ts';
import { addTags } from './tags.ts';
import type { Triggered } from '../create/trigger.ts';

export interface ChangeHandlerDependencies {
  readonly engine: Engine;
  readonly dispatch: Pick<Dispatch, 'expect'>;
  readonly trigger: (run: NewRun) => Promise<Triggered>;
  readonly redactor: VariableCache['redactor'];
}

const missing = () => notFound('Run not found', false, 'run_not_found');

export function changeHandlers({
  engine,
  dispatch,
  trigger,
  redactor,
}: ChangeHandlerDependencies): HandlersOf<OperationsOf<'runsChange'>> {
  const { sql } = engine;
  return {
    async replayRun(request) {
      const { id } = await findRunToWrite(
        sql,
        request,
        notFound('Resource not found', false, 'run_not_found'),
      );
      const { payload, payloadType, fromStep } = request.body ?? {};
      await authorizePacket(sql, request, { payload, payloadType });
      const run = await prepareReplay(engine, request.environment, id, { payload, payloadType, fromStep });
      if (!run) throw notFound('Resource not found', false, 'run_not_found');
      const { requestKey } = request;
      return { id: (await trigger(requestKey === undefined ? run : { ...run, requestKey })).id };
    },

    async rescheduleRun(request) {
      const { id } = await findRunToWrite(sql, request, missing());
      const env = request.environment.id;
      await rescheduleRun(engine, dispatch, env, id, request.body.delay);
      return (await retrieveRun(engine, env, id)) as Run;
    },

    async addRunTags(request) {
      const { id } = await findRunToWrite(sql, request, missing());
      const { tags, fence } = request.body;
      const added = await addTags(engine, request.environment.id, id, tags, fence);
      return { message: added === 0 ? 'No new tags to add' : `Successfully set ${added} new tags.` };
    },

    async retrieveRunMetadata(request) {
      const { id } = await findRun(sql, request, missing());
      const metadata = (await readMetadata(engine, request.environment.id, id)) ?? {};
      return { metadata, metadataType: 'application/json' };
    },

    async updateRunMetadata(request) {
      const { id } = await findRunToWrite(sql, request, missing());
      const { parentOperations = [], rootOperations = [] } = request.body;
      if (parentOperations.length > 0) await authorizeRelative(sql, request, id, 'parent');
      if (rootOperations.length > 0) await authorizeRelative(sql, request, id, 'root');
      const env = request.environment.id;
      return { metadata: await changeMetadata(engine, env, id, request.body, await redactor(env)) };
    },

    retrieveRetention: ({ environment }) => readRetention(sql, environment.id),

    async updateRetention(request) {
      const { environment, body } = request;
      return updateRetention(sql, environment, body, recordHere(environment, request));
    },
  };
}
