import type { MetadataOperation } from '@millrace/contract';
import { asJson } from '../payload/json.ts';

/**
 * A change as JSON; setting `undefined` deletes the key. Throws an UnserializableError that names the path of a value that is not JSON.
 */
export function operationAsJson(operation: MetadataOperation): MetadataOperation {
  switch (operation.type) {
    case 'update':
      return { ...operation, value: asJson(operation.value, 'metadata') };
    case 'increment':
      if (typeof operation.value === 'number' && Number.isFinite(operation.value)) return operation;
      throw new TypeError('metadata.increment: the amount must be a finite number.');
    case 'delete':
      return operation;
    default: {
      const value = asJson(operation.value, `metadata.${operation.key}`);
      return value === undefined && operation.type === 'set'
        ? { type: 'delete', key: operation.key }
        : { ...operation, value };
    }
  }
}
