import type { WebhookVerification } from '@millrace/contract/runner';
import { environment } from '../../auth/credential-rows.ts';
import type { Environment } from '../../auth/principal.ts';
import type { Engine } from '../../runs/engine/engine.ts';
import { notFound } from '../../problem.ts';
import { isAddress } from './declare.ts';
import { recentReads } from './recent-reads.ts';

interface Addressed {
  readonly id: string;
  readonly environment: Environment;
}

/** A webhook of the current version of its environment. */
export interface FoundWebhook extends Addressed {
  readonly verification: WebhookVerification;
}

/** An address never leads elsewhere, but its environment may be archived. */
const maxKnown = 10_000;

const unknown = () => notFound('No webhook has this address.', false, 'webhook_not_found');

/** Returns a function that finds the webhook with an address; 404 if the current version does not declare it. */
export function createFindWebhook({ sql, versions }: Pick<Engine, 'sql' | 'versions'>) {
  async function readAddress(address: string): Promise<Addressed> {
    const [row] = isAddress(address)
      ? await sql<Addressed[]>`
          select w.id, ${environment(sql)}
            from webhooks w join environments e on e.id = w.env join projects p on p.id = e.project_id
           where w.address = ${address} and e.archived_at is null and p.deleted_at is null`
      : [];
    if (!row) throw unknown();
    return row;
  }
  const read = recentReads(readAddress, { max: maxKnown });

  return async (address: string): Promise<FoundWebhook> => {
    const addressed = await read(address);
    const current = await versions.current(addressed.environment.id);
    const verification = current?.tasks.get(addressed.id)?.webhook?.verify;
    if (!verification) throw unknown();
    return { ...addressed, verification };
  };
}
