import type { Operations } from '@millrace/contract';
import { parseScope } from '../auth/scopes.ts';
import { notFound } from '../problem.ts';
import type { HandlersOf, Identity, Request } from '../request.ts';
import { readPacket } from './read.ts';
import type { PacketAddresses } from './url.ts';
import type { PacketStore } from './write.ts';

type Named = Pick<Operations, 'createPacket' | 'createPacketV1' | 'retrievePacket' | 'retrievePacketV2'>;
type Asked = 'params' | 'environment' | 'principal' | 'baseUrl' | 'authorize';
type Upload = Pick<Request<Operations['createPacket']>, Asked>;
type Download = Pick<Request<Operations['retrievePacket']>, Asked>;

export function packetHandlers({ sql, clock }: PacketStore, addresses: PacketAddresses): HandlersOf<Named> {
  const upload = async (request: Upload) => {
    request.authorize(anyTask(request));
    const { packet } = request.params;
    const grant = { act: 'put', env: request.environment.id, name: packet } as const;
    return { presignedUrl: request.baseUrl + addresses.sign(grant, clock.now()), storagePath: packet };
  };
  const download = async (request: Download) => {
    const { packet } = request.params;
    const env = request.environment.id;
    if (!(await readPacket(sql, env, packet))) throw notFound();
    const grant = { act: 'get', env, name: packet } as const;
    return { presignedUrl: request.baseUrl + addresses.sign(grant, clock.now()), storagePath: packet };
  };
  return {
    createPacket: upload,
    createPacketV1: upload,
    retrievePacket: download,
    retrievePacketV2: download,
  };
}

/**
 * Who may trigger some task may bring it a payload: which task, the trigger says. SDKs upload before every trigger of that size, so
 * without this a key restricted to tasks could not trigger them with a large payload.
 */
function anyTask({ principal }: Upload): Identity[] {
  const scopes = principal.kind === 'personalAccessToken' ? [] : principal.scopes;
  const tasks = scopes.flatMap((text) => {
    const { type, id } = parseScope(text);
    return type === 'tasks' && id !== undefined ? [{ type, id }] : [];
  });
  return [{ type: 'tasks' }, ...tasks];
}
