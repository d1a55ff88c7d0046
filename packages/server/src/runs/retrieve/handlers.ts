import type { Operations, OperationsOf } from '@millrace/contract';
import { endOf, type Environment } from '../../auth/principal.ts';
import type { PacketAddresses } from '../../payloads/url.ts';
import { notFound, type Problem } from '../../problem.ts';
import type { HandlersOf, Request } from '../../request.ts';
import { authorizeRun } from '../access/authorize.ts';
import type { Engine } from '../engine/engine.ts';
import { retrieveRun, type AddressOf } from './retrieve.ts';

export interface RetrieveHandlerDependencies {
  readonly engine: Engine;
  readonly packets: Pick<PacketAddresses, 'sign'>;
  /** The outcome of a transaction's trigger that has no run with its id. */
  readonly findTriggered: (
    environment: Environment,
    id: string,
  ) => Promise<{ readonly run: string } | { readonly problem: Problem } | undefined>;
}

export function retrieveHandlers({
  engine,
  packets,
  findTriggered,
}: RetrieveHandlerDependencies): HandlersOf<OperationsOf<'runs'>> {
  const addressesFor =
    ({
      environment,
      baseUrl,
      principal,
    }: Pick<Request<Operations['retrieveRun']>, 'environment' | 'baseUrl' | 'principal'>): AddressOf =>
    (name) =>
      baseUrl + packets.sign({ act: 'get', env: environment.id, name }, engine.clock.now(), endOf(principal));

  return {
    async retrieveRun(request) {
      const { runId } = request.params;
      const showsTrigger = request.query.trigger === 'true';
      const retrieve = (id: string) =>
        retrieveRun(engine, request.environment.id, id, addressesFor(request), showsTrigger);
      let run = await retrieve(runId);
      if (!run) {
        const triggered = await findTriggered(request.environment, runId);
        if (triggered && 'problem' in triggered) {
          request.authorize([{ type: 'runs', id: runId }]);
          throw triggered.problem;
        }
        if (triggered) run = await retrieve(triggered.run);
      }
      // A client that has just triggered the run may be ahead of a replica: it should try again.
      if (!run) throw notFound('Not found', true, 'run_not_found');
      authorizeRun(request, run);
      return run;
    },

    async retrieveRunPacket(request) {
      const { runId, field } = request.params;
      // With the names of its packets instead of their URLs.
      const run = await retrieveRun(engine, request.environment.id, runId, (name) => name);
      if (run) authorizeRun(request, run);
      const name = field === 'payload' ? run?.payloadPresignedUrl : run?.outputPresignedUrl;
      if (name === undefined) throw notFound();
      return { presignedUrl: addressesFor(request)(name), storagePath: name };
    },
  };
}
