import type { Operations, OperationsOf } from '@millrace/contract';
import { endOf } from '../auth/principal.ts';
import { someTask } from '../auth/scopes.ts';
import { notFound } from '../problem.ts';
import type { HandlersOf, Identity, Request } from '../request.ts';
import { readPacket } from './read.ts';
import type { PacketAddresses } from './url.ts';
import { uploaderOf } from './uploader.ts';
import type { PacketStore } from './write.ts';

type RequestFields = 'params' | 'environment' | 'principal' | 'baseUrl' | 'authorize';
type Upload = Pick<Request<Operations['createPacket']>, RequestFields>;
type Download = Pick<Request<Operations['retrievePacket']>, RequestFields>;

export interface PacketHandlerDependencies extends PacketStore {
  readonly addresses: Pick<PacketAddresses, 'sign'>;
  /** The identities of the runs that name a packet, for authorization. */
  readonly identitiesOf: (env: number, name: string) => Promise<Identity[]>;
}

export function packetHandlers({
  sql,
  clock,
  addresses,
  identitiesOf,
}: PacketHandlerDependencies): HandlersOf<OperationsOf<'packets'>> {
  const upload = async (request: Upload) => {
    // The task is not known yet, because SDKs upload a large payload before they trigger.
    request.authorize(someTask(request.principal), 'batchTrigger');
    const { packet } = request.params;
    const by = uploaderOf(request.principal) ?? undefined;
    const grant = { act: 'put', env: request.environment.id, name: packet, by } as const;
    return {
      presignedUrl: request.baseUrl + addresses.sign(grant, clock.now(), endOf(request.principal)),
      storagePath: packet,
    };
  };
  const download = async (request: Download) => {
    const { packet } = request.params;
    const env = request.environment.id;
    request.authorize([{ type: 'runs' }, ...(await identitiesOf(env, packet))]);
    if (!(await readPacket(sql, env, packet))) throw notFound();
    const grant = { act: 'get', env, name: packet } as const;
    return {
      presignedUrl: request.baseUrl + addresses.sign(grant, clock.now(), endOf(request.principal)),
      storagePath: packet,
    };
  };
  return {
    createPacket: upload,
    createPacketV1: upload,
    retrievePacket: download,
    retrievePacketV2: download,
  };
}
