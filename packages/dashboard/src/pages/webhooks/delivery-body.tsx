import type { WebhookDelivery } from '@millrace/contract';
import { useState } from 'react';
import { JsonTree, TextBlock } from '../../parts/json/json-tree.tsx';
import { Segments } from '../../parts/segments.tsx';
import { jsonBody } from './json-body.ts';

const formats = [
  { value: 'tree', label: 'Tree' },
  { value: 'text', label: 'Text' },
] as const;

/** The body as it was received; JSON also as a tree. */
export function DeliveryBody({ delivery }: { readonly delivery: WebhookDelivery }) {
  const [format, setFormat] = useState<string>('tree');
  const { bytes, rawBody, isBase64Encoded } = delivery;
  const json = jsonBody(delivery);
  if (bytes === 0) return <p className="muted">No body, or it was erased with its runs.</p>;
  return (
    <div className="stack">
      {json && <Segments label="Format" options={formats} value={format} onChange={setFormat} />}
      {isBase64Encoded && <p className="muted">The body is not text. It is shown in base64.</p>}
      {json && format === 'tree' ? (
        <JsonTree value={json.value} label="Body" />
      ) : (
        <TextBlock text={rawBody} label="Body" />
      )}
    </div>
  );
}
