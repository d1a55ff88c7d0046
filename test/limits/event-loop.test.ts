import { Worker } from 'node:worker_threads';
import { maxPacketBytes, operations, type OperationDeclaration } from '@millrace/contract';
import { openApiDocument } from '@millrace/contract/openapi';
import { expect, test } from 'vitest';
import { installation, type Installation } from '../access/installation.ts';
import { wholeSampleOf, type Schema } from '../access/sample.ts';
import { openBodyLimit } from '../../packages/server/src/http/mount.ts';
import { isLong } from '../support/long.ts';
import { minHold, maxHold } from './hold.ts';
import { numbered, shapes, times } from './shapes.ts';

/** Sends requests from another thread, so that their bodies take no time of the server's thread. */
const client = `
const { parentPort } = require('node:worker_threads');
const { Agent, request } = require('node:http');
const agent = new Agent({ keepAlive: true });
parentPort.on('message', ({ url, method, headers, body }) => {
  const sent = request(url, { method, headers: { ...headers, 'content-length': body.length }, agent }, (reply) => {
    let text = '';
    reply.on('data', (part) => { if (text.length < 500) text += part; });
    reply.on('end', () => parentPort.postMessage({ status: reply.statusCode, text: text.slice(0, 500) }));
  });
  sent.on('error', (error) => parentPort.postMessage({ status: 0, text: String(error) }));
  sent.end(body);
});`;

interface Sent {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly type?: string;
  readonly body: () => string;
}

const shapeNames = Object.keys(shapes);

type Paths = Readonly<
  Record<
    string,
    Readonly<
      Record<string, { requestBody?: { content: Readonly<Record<string, { readonly schema: Schema }>> } }>
    >
  >
>;

/** Bodies of the maximum size for each operation, with each of the shapes as the whole body and as each of its members. */
function* sentToAll({ keys, token, projectRef, organization }: Installation): Generator<Sent> {
  const { paths } = openApiDocument(operations) as { paths: Paths };
  const known: Readonly<Record<string, string>> = { projectRef, organization, env: 'prod' };
  let turn = 0;
  for (const declaration of Object.values<OperationDeclaration>(operations)) {
    const { id, method, path, access, bodyStream, bodyText } = declaration;
    const schema =
      paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]?.requestBody?.content[
        'application/json'
      ]?.schema;
    if (bodyStream || (!bodyText && !schema)) continue;
    const limit = declaration.bodyLimit ?? (access.open ? openBodyLimit : 1_048_576);
    const sample = (bodyText || !schema ? {} : wholeSampleOf(schema, 'HERE')) as object;
    const to = {
      method,
      path: path.replaceAll(/:(\w+)/g, (_, part: string) => known[part] ?? 'x'),
      key: access.secretKey ? keys.prod : token,
    };
    for (const member of [undefined, ...Object.keys(sample)]) {
      const shape = shapeNames[turn++ % shapeNames.length] ?? '';
      const room = limit - JSON.stringify(sample).length - 1_000;
      if (room < 1_000) continue;
      const value = () => shapes[shape]?.(room) ?? '';
      const body = () =>
        member === undefined
          ? value()
          : JSON.stringify({ ...sample, [member]: 'VALUE' }).replace('"VALUE"', value);
      yield { ...to, name: `${id}.${member ?? '*'} ${shape}`, body };
    }
  }
}

/** Step results of 10 MiB, as in `storeRunStep`. The environment has secrets, which must be found in them. */
const results: Readonly<Record<string, () => string>> = {
  text: () => shapes['text']?.(maxPacketBytes - 100) ?? '',
  wide: () => shapes['wide']?.(maxPacketBytes - 100) ?? '',
  quotes: () => times('"', maxPacketBytes),
  backslashes: () => times('\\', maxPacketBytes),
  deep: () => times('[', maxPacketBytes),
  rows: () => `[${numbered(maxPacketBytes - 1_000, (index) => `{"id":${index},"name":"name ${index}"}`)}]`,
  secrets: () => JSON.stringify(times(`${secret} `, maxPacketBytes - 100)),
  'few secrets': () =>
    `[${numbered(maxPacketBytes - 2_000, (index) => JSON.stringify({ id: index, a: times('x"y ', 1_000), b: secret }))}]`,
  keys: () => JSON.stringify(times(`svc_prod_sk_${'a'.repeat(24)} `, maxPacketBytes - 100)),
};
const secret = 'correct horse battery staple';

/** Requests that are accepted, as far as the shape permits. */
async function* sentInFull({ ask, keys, projectRef, token: user }: Installation): AsyncGenerator<Sent> {
  const key = keys.prod;
  const ready = await ask('POST /api/v1/tasks/send/trigger', { key, body: {} });
  const run = ready.body.id as string;
  const mib = 1_048_576;
  const post = { method: 'POST', key };
  for (const [shape, value] of Object.entries(shapes)) {
    const [first, second] = [3 * mib - 1_000, 900_000].map((bytes) => () => value(bytes)) as [
      () => string,
      () => string,
    ];
    const text = () => JSON.stringify(value(mib));
    yield {
      ...post,
      name: `trigger ${shape}`,
      path: '/api/v1/tasks/send/trigger',
      body: () => `{"payload":${first()}}`,
    };
    yield {
      ...post,
      name: `trigger, superjson ${shape}`,
      path: '/api/v1/tasks/send/trigger',
      body: () => `{"payload":${text()},"options":{"payloadType":"application/super+json"}}`,
    };
    yield {
      ...post,
      name: `trigger, metadata ${shape}`,
      path: '/api/v1/tasks/send/trigger',
      body: () => `{"options":{"metadata":${text()}}}`,
    };
    yield {
      ...post,
      name: `trigger, tags ${shape}`,
      path: '/api/v1/tasks/send/trigger',
      body: () => `{"options":{"tags":${second()}}}`,
    };
    yield {
      ...post,
      name: `trigger-many ${shape}`,
      path: '/api/v1/tasks/trigger-many',
      body: () => `{"items":[{"task":"send","payload":${first().slice(0)}}]}`,
    };
    yield {
      ...post,
      name: `event ${shape}`,
      path: '/api/v1/events',
      body: () => `{"id":"${shape}","event":{"name":"a.b","payload":${first()}}}`,
    };
    yield {
      ...post,
      name: `replay ${shape}`,
      path: `/api/v1/runs/${run}/replay`,
      body: () => `{"payload":${first()}}`,
    };
    yield {
      ...post,
      method: 'PUT',
      name: `metadata ${shape}`,
      path: `/api/v1/runs/${run}/metadata`,
      body: () => `{"metadata":{"a":${value(200_000)}}}`,
    };
    const { body: token } = await ask('POST /api/v1/waitpoints/tokens', { key, body: {} });
    yield {
      ...post,
      name: `complete ${shape}`,
      path: `/api/v1/waitpoints/tokens/${token.id}/complete`,
      body: () => `{"data":${first()}}`,
    };
    const { body: other } = await ask('POST /api/v1/waitpoints/tokens', { key, body: {} });
    yield { ...post, name: `callback ${shape}`, path: new URL(other.url as string).pathname, body: first };
    const { body: batch } = await ask('POST /api/v3/batches', { key, body: { runCount: 1_000 } });
    yield {
      ...post,
      name: `batch line ${shape}`,
      path: `/api/v3/batches/${batch.id}/items`,
      type: 'application/x-ndjson',
      body: () => `{"index":0,"task":"send","payload":${first()}}`,
    };
  }
  const batchLines: Readonly<Record<string, () => string>> = {
    'line ends': () => '\n'.repeat(10 * mib),
    'blank lines': () => ' \r\n'.repeat(3 * mib),
    'one line of 20 MiB': () => `{"index":0,"task":"send","payload":"${'x'.repeat(20 * mib)}"}`,
    'one line of brackets': () => '['.repeat(20 * mib),
    'one line of quotes': () => '"\\'.repeat(10 * mib),
    'many items': () =>
      Array.from(
        { length: 1_000 },
        (_, index) => `{"index":${index},"task":"send","payload":{"a":${index}}}\n`,
      ).join(''),
  };
  for (const [name, body] of Object.entries(batchLines)) {
    const { body: batch } = await ask('POST /api/v3/batches', { key, body: { runCount: 1_000 } });
    yield { ...post, name, path: `/api/v3/batches/${batch.id}/items`, type: 'application/x-ndjson', body };
  }
  const many = (count: number, item: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => item(index)).join(',');
  const fields = `{${numbered(2_000, (index) => `"field${index % 40}":"value"`)}}`;
  yield {
    ...post,
    name: 'trigger-many of 500',
    path: '/api/v1/tasks/trigger-many',
    body: () => `{"items":[${many(500, () => `{"task":"send","payload":${fields}}`)}]}`,
  };
  yield {
    ...post,
    name: 'events of 500',
    path: '/api/v1/event-batches',
    body: () =>
      `{"events":[${many(500, (index) => `{"id":"e${index}","event":{"name":"a.b","payload":${fields}}}`)}]}`,
  };
  for (const json of ['[{},{},', '[0,0,', '["",'] as const) {
    const items = () => `[${json.slice(1).repeat(25_000)}0]`;
    yield {
      ...post,
      name: `trigger-many of ${json}`,
      path: '/api/v1/tasks/trigger-many',
      body: () => `{"items":${items()}}`,
    };
    yield {
      ...post,
      name: `events of ${json}`,
      path: '/api/v1/event-batches',
      body: () => `{"events":${items()}}`,
    };
    yield {
      ...post,
      name: `tasks of ${json}`,
      path: '/runner/v1/versions',
      body: () => `{"contentHash":"${'a'.repeat(64)}","tasks":${items()}}`,
    };
  }
  yield {
    ...post,
    name: 'batch of 500 in one request',
    path: '/api/v2/tasks/batch',
    body: () => `{"items":[${many(500, () => `{"task":"send","payload":${fields.slice(0, 1_900)}}`)}]}`,
  };
  yield {
    ...post,
    name: 'outbox of 500',
    path: '/api/v1/outbox',
    body: () =>
      `{"items":[${many(500, (index) => `{"id":"run_${String(index).padStart(24, '0')}","task":"send","payload":${fields}}`)}]}`,
  };
  yield {
    ...post,
    name: 'variables of 5,000',
    path: `/api/v1/projects/${projectRef}/envvars/stg/import`,
    key: user,
    body: () =>
      `{"variables":{${many(5_000, (index) => `"NAME_${index}":"${'v'.repeat(60)} ${index}"`)}},"override":true,"isSecret":true}`,
  };
  yield {
    ...post,
    name: 'tasks of 10,000',
    path: '/runner/v1/versions',
    body: () =>
      `{"contentHash":"${'b'.repeat(64)}","tasks":[${many(10_000, (index) => `{"id":"task-${index}","filePath":"tasks/${index}.ts"}`)}]}`,
  };
  await ask(`POST /api/v1/projects/${projectRef}/envvars/prod`, {
    key: user,
    body: { name: 'SECRET', value: secret, isSecret: true },
  });
  for (const [name, output] of Object.entries(results)) {
    for (const outputType of ['application/json', 'text/plain']) {
      yield {
        ...post,
        method: 'PUT',
        name: `result of a step, ${outputType}: ${name}`,
        path: `/api/v1/runs/${run}/steps`,
        body: () =>
          JSON.stringify({
            fence: 1,
            name,
            kind: 'RUN',
            status: 'COMPLETED',
            seq: 1,
            tries: 1,
            tookMs: 1,
            output: output(),
            outputType,
          }),
      };
    }
    yield {
      ...post,
      name: `record: ${name}`,
      path: `/realtime/v1/streams/${run}/self/out/append`,
      body: () => output().slice(0, 1_000_000),
    };
  }
  const subscribed = many(60, (index) => `{"id":"on-${index}","filePath":"on.ts","on":{"name":"paid"}}`);
  await ask('POST /runner/v1/versions', {
    key: keys.dev,
    body: `{"contentHash":"${'c'.repeat(64)}","tasks":[${subscribed}]}`,
  });
  yield {
    ...post,
    name: 'events of 200 that start 60 tasks each',
    path: '/api/v1/event-batches',
    key: keys.dev,
    body: () =>
      `{"events":[${many(200, (index) => `{"id":"paid${index}","event":{"name":"paid","payload":${index}}}`)}]}`,
  };
  const packet = await ask('PUT /api/v2/packets/p.json', { key });
  const { pathname } = new URL(packet.body.presignedUrl as string);
  yield {
    method: 'PUT',
    key: '',
    name: 'packet',
    path: pathname,
    body: () => `[${'{"a":"b"},'.repeat(900_000)}0]`,
  };
}

test('no request holds the event loop for long', { timeout: 900_000 }, async () => {
  const installed = await installation();
  const { server } = installed;
  const worker = new Worker(client, { eval: true });
  const send = ({ method, path, key, type = 'application/json' }: Sent, body: Uint8Array) =>
    new Promise<{ status: number; text: string }>((resolve) => {
      worker.once('message', resolve);
      const headers = { ...(key !== '' && { authorization: `Bearer ${key}` }), 'content-type': type };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage({ url: server.url + path, method, headers, body });
    });

  const slow: unknown[] = [];
  const faults: unknown[] = [];
  let count = 0;
  let turn = 0;
  /** A third of them, unless the run is long. Every shape is covered, because three does not divide their number. */
  const isTried = (): boolean => isLong || turn++ % 3 === 0;
  const measure = async (sent: Sent): Promise<void> => {
    const body = Buffer.from(sent.body());
    const least = await minHold(async () => {
      const { status, text } = await send(sent, body);
      if (status >= 500 || status === 0) faults.push([sent.name, status, text]);
    });
    count++;
    if (least > maxHold) slow.push([sent.name, least]);
  };
  for await (const sent of sentInFull(installed)) if (isTried()) await measure(sent);
  for (const sent of sentToAll(installed)) if (isTried()) await measure(sent);
  await worker.terminate();
  expect(faults).toEqual([]);
  expect(slow).toEqual([]);
  expect(count).toBeGreaterThan(isLong ? 400 : 133);
});
