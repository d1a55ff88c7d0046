import { maxPayloadSchemaBytes, maxPayloadSchemasBytes } from '@millrace/contract/runner';
import type { IndexedTask } from '@millrace/runner';

/** Leaves out the JSON Schemas that are too large to be stored and adds a note instead. */
export function boundSchemas(tasks: readonly IndexedTask[]): IndexedTask[] {
  let total = 0;
  return tasks.map((task) => {
    const { payloadSchema, ...manifest } = task.manifest;
    if (payloadSchema === undefined) return task;
    const bytes = Buffer.byteLength(JSON.stringify(payloadSchema));
    const without = (why: string): IndexedTask => ({
      ...task,
      manifest: { ...manifest, payloadSchemaNote: why },
    });
    if (bytes > maxPayloadSchemaBytes)
      return without(`its JSON Schema has ${bytes} bytes, and at most ${maxPayloadSchemaBytes} are stored`);
    if (total + bytes > maxPayloadSchemasBytes)
      return without(`the JSON Schemas of all tasks have more than ${maxPayloadSchemasBytes} bytes together`);
    total += bytes;
    return task;
  });
}
