import { z } from 'zod';
import type { Alert, NotificationEndpoint } from '@millrace/contract';
import { compared, isSameJson, type Part, type Remote, type PlanOptions, type Step } from '../part.ts';

const reference = z.object({
  type: z.enum(['webhook', 'slack', 'email']),
  /** The address of a webhook. For other kinds only the origin, because the rest is secret. */
  url: z.string().min(1),
  description: z.string().optional(),
});
type Reference = z.infer<typeof reference>;

const endpointRecord = reference.extend({ types: z.array(z.string()).min(1), enabled: z.boolean() });
type EndpointRecord = z.infer<typeof endpointRecord>;

const referenceOf = ({ kind, url, description }: NotificationEndpoint): Reference => ({
  type: kind,
  url,
  ...(description !== null && { description }),
});
/** A webhook is identified by its address. Other kinds do not expose enough of theirs. */
const identityOf = ({ type, url, description }: Reference): string =>
  type === 'webhook' ? `${type} ${url}` : `${type} ${url} ${description ?? ''}`;

const listEndpoints = async ({ client, params }: Remote): Promise<NotificationEndpoint[]> =>
  (await client.call('listNotificationEndpoints', { params })).data;

export const endpoints: Part<EndpointRecord> = {
  kind: 'endpoint',
  record: endpointRecord,
  on: 'webhooks',
  async *read(remote) {
    for (const endpoint of await listEndpoints(remote))
      yield { ...referenceOf(endpoint), types: endpoint.types, enabled: endpoint.enabled };
  },
  async plan(records, remote, { override }) {
    const own = new Map(
      (await listEndpoints(remote)).map((endpoint) => [identityOf(referenceOf(endpoint)), endpoint]),
    );
    return records.map((entry) => planEndpoint(entry, own.get(identityOf(entry)), remote, override));
  },
};

function planEndpoint(
  entry: EndpointRecord,
  there: NotificationEndpoint | undefined,
  { client, params }: Remote,
  override: boolean,
): Step {
  const kind = 'endpoint';
  const name = `${entry.type} ${entry.url}`;
  const { types, description, enabled, url } = entry;
  const switchOff = (endpointId: string) =>
    client.call('updateNotificationEndpoint', {
      params: { ...params, endpointId },
      body: { enabled: false },
    });
  if (there) {
    const isSame = isSameJson(
      [there.types.toSorted(), there.description ?? undefined],
      [types.toSorted(), description],
    );
    // Left behind by an import that ended after creating the endpoint.
    if (isSame && !enabled && there.enabled)
      return {
        kind,
        name,
        action: 'change',
        note: 'switched off',
        apply: async () => void (await switchOff(there.id)),
      };
    return compared({ kind, name, is: isSame ? 'same' : 'other', override }, async () => {
      const body = { types, ...(description !== undefined && { description }) };
      await client.call('updateNotificationEndpoint', { params: { ...params, endpointId: there.id }, body });
      return undefined;
    });
  }
  if (entry.type !== 'webhook')
    return {
      kind,
      name,
      action: 'by-hand',
      note: `its address is secret: \`millrace notifications add ${entry.type}\`, then import again`,
    };
  const note = 'with a new signing secret';
  return {
    kind,
    name,
    action: 'create',
    note,
    apply: async () => {
      const body = { kind: 'webhook', url, types, ...(description !== undefined && { description }) };
      const created = await client.call('createNotificationEndpoint', { params, body });
      if (!enabled) await switchOff(created.id);
      return created.secret;
    },
  };
}

const alertRecord = z.object({
  condition: z.string().min(1),
  name: z.string().optional(),
  task: z.string().optional(),
  queue: z.string().optional(),
  owners: z.array(z.string()).min(1).optional(),
  threshold: z.number(),
  minRuns: z.int().optional(),
  window: z.string(),
  quiet: z.string(),
  /** If missing, every endpoint that accepts alerts. */
  endpoints: z.array(reference).min(1).optional(),
  enabled: z.boolean(),
});
type AlertRecord = z.infer<typeof alertRecord>;

function recordOfAlert(alert: Alert, all: ReadonlyMap<string, NotificationEndpoint>): AlertRecord {
  const to = alert.endpoints?.flatMap((id) => all.get(id) ?? []).map(referenceOf);
  return {
    condition: alert.kind,
    ...(alert.name !== null && { name: alert.name }),
    ...(alert.task !== null && { task: alert.task }),
    ...(alert.queue !== null && { queue: alert.queue }),
    ...(alert.owners !== null && { owners: alert.owners }),
    threshold: alert.threshold,
    ...(alert.minRuns !== null && { minRuns: alert.minRuns }),
    window: alert.window,
    quiet: alert.quiet,
    ...(to !== undefined && to.length > 0 && { endpoints: to }),
    enabled: alert.enabled,
  };
}

async function listAlerts(remote: Remote): Promise<{ id: string; alert: AlertRecord }[]> {
  const all = new Map((await listEndpoints(remote)).map((endpoint) => [endpoint.id, endpoint]));
  const { data } = await remote.client.call('listAlerts', { params: remote.params });
  return data.map((alert) => ({ id: alert.id, alert: recordOfAlert(alert, all) }));
}

const sameAlert = (entry: AlertRecord): string =>
  JSON.stringify([entry.condition, entry.name, entry.task, entry.queue, entry.owners]);

export const alerts: Part<AlertRecord> = {
  kind: 'alert',
  record: alertRecord,
  on: 'webhooks',
  async *read(remote) {
    for (const { alert } of await listAlerts(remote)) yield alert;
  },
  async plan(records, remote, options) {
    const own = await listAlerts(remote);
    return records.map((entry) => {
      // If several are equal, each is matched once.
      const at = own.findIndex(({ alert }) => sameAlert(alert) === sameAlert(entry));
      const [there] = at === -1 ? [] : own.splice(at, 1);
      return planAlert(entry, there, remote, options);
    });
  },
};

function planAlert(
  entry: AlertRecord,
  there: { id: string; alert: AlertRecord } | undefined,
  remote: Remote,
  { override }: PlanOptions,
): Step {
  const { client, params } = remote;
  const kind = 'alert';
  const name = [entry.condition, entry.name ?? entry.task ?? entry.queue].filter(Boolean).join(' ');
  const { enabled, endpoints: to, condition, ...settings } = entry;
  const change = (alertId: string, body: object) =>
    client.call('updateAlert', { params: { ...params, alertId }, body });
  const ids = async (): Promise<{ endpoints?: string[] }> => {
    if (to === undefined) return {};
    // Looked up lazily, because the import may have just created them.
    const all = new Map(
      (await listEndpoints(remote)).map((each) => [identityOf(referenceOf(each)), each.id]),
    );
    const found = to.flatMap((each) => all.get(identityOf(each)) ?? []);
    if (found.length < to.length)
      throw new Error('some of its endpoints do not exist here: add them, then import again');
    return { endpoints: found };
  };
  if (!there)
    return {
      kind,
      name,
      action: 'create',
      apply: async () => {
        const body = { kind: condition, ...settings, ...(await ids()) };
        const created = await client.call('createAlert', { params, body });
        if (!enabled) await change(created.id, { enabled: false });
        return undefined;
      },
    };
  const isSame = isSameJson({ ...there.alert, enabled }, entry);
  if (isSame && !enabled && there.alert.enabled)
    return {
      kind,
      name,
      action: 'change',
      note: 'switched off',
      apply: async () => void (await change(there.id, { enabled })),
    };
  return compared({ kind, name, is: isSame ? 'same' : 'other', override }, async () => {
    const { threshold, minRuns, window, quiet } = settings;
    const body = { threshold, ...(minRuns !== undefined && { minRuns }), window, quiet, ...(await ids()) };
    await change(there.id, to === undefined ? { ...body, endpoints: null } : body);
    return undefined;
  });
}
