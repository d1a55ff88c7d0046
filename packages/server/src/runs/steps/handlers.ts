import type { Operations, OperationsOf } from '@millrace/contract';
import { endOf } from '../../auth/principal.ts';
import type { MasterKey } from '../../auth/seal.ts';
import type { VariableCache } from '../../envvars/variable-cache.ts';
import type { PacketAddresses } from '../../payloads/url.ts';
import { notFound } from '../../problem.ts';
import type { HandlersOf, Request } from '../../request.ts';
import { findRun, findRunToWrite } from '../access/authorize.ts';
import type { Engine } from '../engine/engine.ts';
import type { AddressOf } from '../retrieve/retrieve.ts';
import { loadSteps } from './load.ts';
import { readSteps } from './read.ts';
import { stepResponse } from './response.ts';
import { createStoreStep } from './store.ts';

export interface StepHandlerDependencies {
  readonly engine: Engine;
  readonly masterKey: MasterKey;
  readonly packets: Pick<PacketAddresses, 'sign'>;
  readonly redactor: VariableCache['redactor'];
}

const missing = () => notFound('Run not found', false, 'run_not_found');

export function stepHandlers({
  engine,
  masterKey,
  packets,
  redactor,
}: StepHandlerDependencies): HandlersOf<OperationsOf<'runsSteps'>> {
  const { sql } = engine;
  const store = createStoreStep(engine, masterKey);

  const addressesFor =
    ({
      environment,
      baseUrl,
      principal,
    }: Pick<Request<Operations['listRunSteps']>, 'environment' | 'baseUrl' | 'principal'>): AddressOf =>
    (name) =>
      baseUrl + packets.sign({ act: 'get', env: environment.id, name }, engine.clock.now(), endOf(principal));

  return {
    async listRunSteps(request) {
      const { id } = await findRun(sql, request, missing());
      const { rows, next } = await readSteps(sql, request.environment.id, id, {
        size: request.query['page[size]'],
        after: request.query['page[after]'],
      });
      const addressOf = addressesFor(request);
      return {
        data: rows.map((row) => stepResponse(row, addressOf)),
        pagination: next === undefined ? {} : { next },
      };
    },

    async loadRunSteps(request) {
      const { id } = await findRunToWrite(sql, request, missing());
      const { principal, query } = request;
      const isOwn = principal.kind === 'secretKey' && principal.attempt?.run === id;
      return loadSteps(engine, request.environment.id, id, {
        fence: query.fence,
        after: query['page[after]'],
        name: query.name,
        addressOf: addressesFor(request),
        masterKey: isOwn ? masterKey : undefined,
      });
    },

    async storeRunStep(request) {
      const { id } = await findRunToWrite(sql, request, missing());
      const env = request.environment.id;
      return store({ env, run: id, report: request.body, redactor: await redactor(env) });
    },
  };
}
