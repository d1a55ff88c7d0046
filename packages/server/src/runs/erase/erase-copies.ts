import { storedType } from '@millrace/contract';
import type { Transaction } from '../../db/connect.ts';

/**
 * Erases the data of runs that is stored elsewhere: packets that no other run names, the events and webhook deliveries that started the
 * runs, their notifications, and the samples of error groups that have the message of a run.
 */
export async function eraseCopies(
  tx: Transaction,
  env: number,
  ids: readonly string[],
  at: Date,
): Promise<void> {
  await eraseSamples(tx, env, ids);
  await erasePackets(tx, env, ids);
  await tx`
    update events e
       set event = json_build_object('id', e.id, 'name', e.name, 'timestamp', e.event::json -> 'timestamp')::text,
           erased_at = ${at}
      from (select distinct r.event::json ->> 'id' as id from runs r
             where r.env = ${env} and r.id = any(${ids}::text[]) and r.event is not null) x
     where e.env = ${env} and e.id = x.id and e.erased_at is null`;
  // Replays of a run have its payload too, and are not listed with the delivery.
  await tx`
    update webhook_deliveries d set headers = '{}', body = '', erased_at = ${at}
      from (select distinct r.task, substring(r.payload from '"deliveryId":"([^"\\\\]+)"') as id
              from runs r join webhooks w on w.env = r.env and w.id = r.task
             where r.env = ${env} and r.id = any(${ids}::text[]) and r.payload is not null) x
     where d.env = ${env} and d.id = x.id and d.webhook = x.task and d.erased_at is null`;
  await tx`
    update notifications n set data = n.data - 'tags' - 'error'
      from runs r
     where r.env = ${env} and r.id = any(${ids}::text[]) and r.status not in ('COMPLETED', 'CANCELED', 'EXPIRED')
       and n.at = r.finished_at and n.env = r.env and n.type = 'run.failed' and n.data ->> 'id' = r.id`;
}

async function erasePackets(tx: Transaction, env: number, ids: readonly string[]): Promise<void> {
  await tx`
    delete from packets p
     using (
       select r.payload as name from runs r
        where r.env = ${env} and r.id = any(${ids}::text[]) and r.payload_type = ${storedType}
       union select r.output from runs r
        where r.env = ${env} and r.id = any(${ids}::text[]) and r.output_type = ${storedType}
       union select s.output from run_steps s
        where s.env = ${env} and s.run_id = any(${ids}::text[]) and s.output_type = ${storedType}
     ) x
     where p.env = ${env} and p.name = x.name
       and not exists (select from runs r where r.env = p.env and r.payload = p.name
                          and r.payload_type = 'application/store' and r.id <> all(${ids}::text[]))
       and not exists (select from runs r where r.env = p.env and r.output = p.name
                          and r.output_type = 'application/store' and r.id <> all(${ids}::text[]))
       and not exists (select from run_steps s where s.env = p.env and s.output = p.name
                          and s.output_type = 'application/store' and s.run_id <> all(${ids}::text[]))`;
}

/** A sample does not name its run. With the same message, it has the same data. The normalized message of the group remains. */
async function eraseSamples(tx: Transaction, env: number, ids: readonly string[]): Promise<void> {
  const failed = await tx<{ id: number; message: string }[]>`
    select distinct x.id, x.message from (
      select r.error_fingerprint_id as id, r.error ->> 'message' as message from runs r
       where r.env = ${env} and r.id = any(${ids}::text[]) and r.error_fingerprint_id is not null and r.error is not null
      union all
      select a.error_fingerprint_id, a.error ->> 'message' from attempts a
       where a.env = ${env} and a.run_id = any(${ids}::text[]) and a.error_fingerprint_id is not null and a.error is not null
    ) x where x.message is not null`;
  if (failed.length === 0) return;
  await tx`select lock_errors(${env})`;
  await tx`
    update error_samples s
       set sample = jsonb_build_object('name', s.sample -> 'name', 'message', s.message, 'stackTrace', '')
      from unnest(${failed.map(({ id }) => id)}::int[], ${failed.map(({ message }) => message)}::text[]) as f (id, message)
     where s.fingerprint_id = f.id and starts_with(f.message, s.sample ->> 'message')`;
}
