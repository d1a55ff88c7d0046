import { unseal, type MasterKey } from '../auth/seal.ts';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import type { Log } from '../logger.ts';
import type { Egress } from './check-url.ts';
import { maxAttempts, pauseAfter } from './backoff.ts';
import { bodyOf, notificationColumns, type NotificationRow } from './body.ts';
import { disableEndpoint } from './disable.ts';
import { endpointSecretContext, type EndpointRow } from './endpoint.ts';
import { MailRefused, sendMail } from './mail.ts';
import { messageOf, slackBody } from './message.ts';
import { AddressRefused } from './networks.ts';
import { post } from './post.ts';
import { signedHeaders } from './sign.ts';

export interface DeliverDependencies {
  readonly sql: Sql;
  readonly log: Log;
  readonly clock: Pick<Clock, 'now'>;
  readonly masterKey: MasterKey;
  readonly egress: Egress;
}

/** A delivery that this process has claimed. */
export interface Taken extends NotificationRow {
  readonly id: string;
  /** Including this attempt. */
  readonly attempts: number;
  readonly notification_id: string;
  readonly endpoint: Pick<EndpointRow, 'id' | 'env' | 'kind' | 'url' | 'mail' | 'sealed_before_until'>;
  readonly sealed: Buffer;
  readonly sealed_before: Buffer | null;
}

export const timeoutMs = 15_000;
/** After this time another process may claim the delivery again; well above the timeout. */
const claimMs = 60_000;
/** An endpoint that has failed for this long is disabled. */
export const patienceMs = 5 * 86_400_000;
/** Longer than any pause between two attempts. A longer gap does not count as failing, because nothing was sent. */
const quietMs = 2 * 86_400_000;

/**
 * Claims due deliveries: at most `max`, and for one endpoint at most `maxEach` together with those in `active`. Claiming postpones `due`,
 * so that another process retries the deliveries of a process that died. It also clears the result of the previous attempt.
 */
export function takeDue(
  { sql, clock }: DeliverDependencies,
  max: number,
  active: ReadonlyMap<string, number>,
  maxEach: number,
): Promise<Taken[]> {
  const now = clock.now();
  return sql<Taken[]>`
    with ready as materialized (
      select d.id
        from notification_endpoints e
        left join unnest(${[...active.keys()]}::text[], ${[...active.values()]}::int[]) as u (id, count) on u.id = e.id
       cross join lateral (
         select x.id, x.due from notification_deliveries x
          where x.endpoint_id = e.id and x.due <= ${new Date(now)}
          order by x.due limit greatest(0, ${maxEach}::int - coalesce(u.count, 0)) for update skip locked) d
       where e.disabled_at is null
       order by d.due limit ${max}
    ), taken as (
      update notification_deliveries d set
        due = ${new Date(now + claimMs)}, attempts = d.attempts + 1, attempted_at = ${new Date(now)},
        response_status = null, failure = null
        from ready where d.id = ready.id
      returning d.*
    )
    select t.id, t.attempts, t.notification_id, ${notificationColumns(sql)}, ep.sealed, ep.sealed_before,
           json_build_object('id', ep.id, 'env', ep.env, 'kind', ep.kind, 'url', ep.url, 'mail', ep.mail,
             'sealed_before_until', ep.sealed_before_until) as endpoint
      from taken t
      join notification_endpoints ep on ep.id = t.endpoint_id
      join notifications n on n.id = t.notification_id
      join environments e on e.id = t.env
      join projects p on p.id = e.project_id`;
}

/** Makes one attempt and records its result. An aborted attempt is released, so that it is retried immediately. */
export async function attempt(
  dependencies: DeliverDependencies,
  taken: Taken,
  stop: AbortSignal,
): Promise<void> {
  let result: Result;
  try {
    result = await send(dependencies, taken, AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]));
  } catch (error) {
    if (stop.aborted) return release(dependencies, taken);
    const status = error instanceof MailRefused ? error.status : undefined;
    result = { status, isAccepted: false, failure: reasonOf(error) };
  }
  await record(dependencies, taken, result);
}

/** The result of an attempt. */
interface Result {
  readonly status: number | undefined;
  readonly isAccepted: boolean;
  readonly failure?: string | undefined;
}

/** Makes one attempt, using the endpoint kind's protocol. */
async function send(dependencies: DeliverDependencies, taken: Taken, signal: AbortSignal): Promise<Result> {
  const { masterKey, egress } = dependencies;
  const { id, kind, url, mail } = taken.endpoint;
  if (kind === 'webhook') return resultOf(await postSigned(dependencies, taken, signal));
  const secret = unseal(masterKey, taken.sealed, endpointSecretContext(id));
  const message = messageOf(bodyOf(taken));
  if (kind === 'email') {
    if (!mail) throw new TypeError(`${url} has no mail settings`);
    const sent = { settings: mail, password: secret, id: taken.notification_id, message };
    return { ...(await sendMail({ ...sent, ...egress, signal })), isAccepted: true };
  }
  const body = slackBody(message);
  return resultOf(await post({ url: new URL(secret), headers: headersOf(body), body, ...egress, signal }));
}

const resultOf = (status: number): Result => {
  const isAccepted = status >= 200 && status <= 299;
  return { status, isAccepted, failure: isAccepted ? undefined : `The endpoint returned ${status}` };
};

const headersOf = (body: string) => ({
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(body)),
  'user-agent': 'Millrace-Notifications/1',
});

function postSigned(
  { masterKey, clock, egress }: DeliverDependencies,
  taken: Taken,
  signal: AbortSignal,
): Promise<number> {
  const { id: endpoint, url, sealed_before_until: until } = taken.endpoint;
  const secrets = [unseal(masterKey, taken.sealed, endpointSecretContext(endpoint))];
  if (taken.sealed_before && until && new Date(until).getTime() > clock.now()) {
    secrets.push(unseal(masterKey, taken.sealed_before, endpointSecretContext(endpoint)));
  }
  const body = JSON.stringify(bodyOf(taken));
  const message = { id: taken.notification_id, at: clock.now(), body };
  const headers = { ...headersOf(body), ...signedHeaders(message, secrets) };
  return post({ url: new URL(url), headers, body, ...egress, signal });
}

/** The reason for a failed attempt, in the form shown to users. */
export function reasonOf(error: unknown): string {
  if (error instanceof AddressRefused) return `Refused: ${error.message}`;
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return `No response within ${timeoutMs / 1_000} s`;
  // The failed system call, without the resolved address.
  if ('syscall' in error && 'code' in error)
    return `${error.syscall as string} failed: ${error.code as string}`;
  return (error.message || ('code' in error ? String(error.code) : error.name)).slice(0, 500);
}

/** Condition: the delivery still belongs to this attempt, and no other process has claimed it since. */
const isCurrent = (sql: Sql, { id, attempts }: Taken) =>
  sql`id = ${id} and attempts = ${attempts} and due is not null`;

const release = async ({ sql, clock }: DeliverDependencies, taken: Taken): Promise<void> =>
  void (await sql`
    update notification_deliveries set due = ${new Date(clock.now())}, attempts = attempts - 1 where ${isCurrent(sql, taken)}`);

async function record(
  { sql, log, clock }: DeliverDependencies,
  taken: Taken,
  { status, isAccepted, failure }: Result,
): Promise<void> {
  const now = new Date(clock.now());
  const { endpoint } = taken;
  if (isAccepted) {
    await sql`
      with done as (
        update notification_deliveries set due = null, delivered_at = ${now}, response_status = ${status ?? null}, failure = ${failure ?? null}
         where ${isCurrent(sql, taken)}
      )
      update notification_endpoints set failing_since = null where id = ${endpoint.id} and failing_since is not null`;
    return;
  }
  const pause = pauseAfter(taken.attempts, Math.random());
  const due = pause === undefined || taken.attempts >= maxAttempts ? null : new Date(now.getTime() + pause);
  const [row] = await sql<{ failing_ms: number }[]>`
    with failed as (
      update notification_deliveries set due = ${due}, response_status = ${status ?? null}, failure = ${failure ?? null}
       where ${isCurrent(sql, taken)} returning endpoint_id
    )
    update notification_endpoints e set
      failing_since = coalesce(e.failing_since, ${now}),
      failed_at = greatest(e.failed_at, ${now}),
      failing_for = case when e.failing_since is null then '0'
                         when e.failed_at between ${new Date(now.getTime() - quietMs)} and ${now}
                           then e.failing_for + (${now}::timestamptz - e.failed_at)
                         else e.failing_for end
      from failed where e.id = failed.endpoint_id
    returning (extract(epoch from e.failing_for) * 1000)::float8 as failing_ms`;
  if (status === 410) return disableEndpoint(sql, log, { endpoint, by: 'gone', now });
  if ((row?.failing_ms ?? 0) >= patienceMs) await disableEndpoint(sql, log, { endpoint, by: 'failing', now });
}
