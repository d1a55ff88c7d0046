import { maxPayloadSchemaBytes, maxPayloadSchemasBytes } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import type { IndexedTask } from '../../../runner/src/executor/messages.ts';
import { boundSchemas } from './bound-schemas.ts';

/** A task whose JSON Schema has this size in bytes. */
const taskOf = (bytes: number): IndexedTask => ({
  source: 'a.ts',
  manifest: {
    id: `t${bytes}`,
    filePath: 'a.ts',
    payloadSchema: { d: 'ä'.repeat((bytes - 8) / 2) },
  },
});

test('a JSON Schema at the limit is included; a larger one is omitted, with a note on the task', () => {
  const [at, over, without] = boundSchemas([
    taskOf(maxPayloadSchemaBytes),
    taskOf(maxPayloadSchemaBytes + 2),
    { source: 'a.ts', manifest: { id: 'none', filePath: 'a.ts' } },
  ]);
  expect(Buffer.byteLength(JSON.stringify(at?.manifest.payloadSchema))).toBe(maxPayloadSchemaBytes);
  expect(over?.manifest).toEqual({
    id: `t${maxPayloadSchemaBytes + 2}`,
    filePath: 'a.ts',
    payloadSchemaNote: `its JSON Schema has ${maxPayloadSchemaBytes + 2} bytes, and at most ${maxPayloadSchemaBytes} are stored`,
  });
  expect(without?.manifest).toEqual({ id: 'none', filePath: 'a.ts' });
});

test('all JSON Schemas together have a limit', () => {
  const count = maxPayloadSchemasBytes / maxPayloadSchemaBytes + 2;
  const bounded = boundSchemas(Array.from({ length: count }, () => taskOf(maxPayloadSchemaBytes)));
  expect(bounded.filter(({ manifest }) => manifest.payloadSchema).length).toBe(count - 2);
  expect(bounded.at(-1)?.manifest.payloadSchemaNote).toContain('of all tasks');
});
