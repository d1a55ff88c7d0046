import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Folders whose code reads JSON of clients, runners and executors. */
const folders = [
  'packages/contract/src/operations',
  'packages/server/src',
  'packages/millrace/src/serve-folder',
  'packages/runner/src/runner',
  'packages/runner/src/executor',
];

/** Files that call `JSON.parse` themselves, with the reason: their texts are our own. */
const allowed: Readonly<Record<string, string>> = {
  'packages/millrace/src/serve-folder/deploy.ts': 'replies of the server that the runner logged in to',
  'packages/runner/src/executor/main.ts': 'lines of the runner that started this process',
  'packages/runner/src/executor/register-tracing.ts': 'the manifest of an installed package',
  'packages/runner/src/executor/sdk.ts': 'the manifest of an installed package',
  'packages/runner/src/runner/connection.ts':
    'messages and replies of the server that the runner logged in to',
  'packages/server/src/db/sql-folder.ts': 'a file of this package',
  'packages/server/src/db/wake.ts': 'notifications that servers send to each other',
  'packages/server/src/envvars/redact/messages.ts': 'a text that was just written by JSON.stringify',
  'packages/server/src/events/complete-waits.ts': 'a filter that was validated before it was stored',
  'packages/server/src/events/deliver.ts': 'an event that was validated before it was stored',
  'packages/server/src/events/replay.ts': 'an event that was validated before it was stored',
  'packages/server/src/channels/record.ts': 'an array that SQL wrote; its records remain texts',
  'packages/server/src/outbox/rows.ts': "a jsonb column of the client's own database, read by the client",
  'packages/server/src/payloads/url.ts': 'the text of an address, after its signature was verified',
  'packages/server/src/runs/create/hand-off.ts': 'options that were validated in this process',
  'packages/server/src/runs/create/replay.ts': 'a payload that was validated before it was stored',
  'packages/server/src/runs/spans/read-many.ts': 'spans that were validated before they were stored',
  'packages/server/src/runs/spans/read.ts': 'spans that were validated before they were stored',
  'packages/server/src/runs/spans/store.ts': 'a text that was just written by JSON.stringify',
  'packages/server/src/tenancy/browser/current.ts': 'a file of this package',
  'packages/server/src/tenancy/oidc/log-in.ts': 'a cookie that this server has sealed',
  'packages/server/src/waitpoints/details.ts': 'a schema that was validated before it was stored',
};

const sources = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name).replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes('/testing/')),
);

test('foreign JSON is read by parseForeignJson alone', () => {
  const parsing = sources.filter((path) =>
    // Comments may name it.
    /JSON\.parse\b|\.json\(\)/.test(
      readFileSync(join(root, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''),
    ),
  );
  expect(parsing.toSorted()).toEqual(Object.keys(allowed).toSorted());
});
