import { readableSize } from '@millrace/contract/plain';
import { useAsk } from '../../api/ask.ts';
import { useSession } from '../../api/session.ts';
import { Section } from '../../parts/page.tsx';

/** The disk usage of the installation, for users with permission: owners. */
export function Storage() {
  const { organizations } = useSession();
  const isOwner = organizations.some(({ role }) => role === 'owner');
  const storage = useAsk('retrieveStorage', {}, { live: 60_000, enabled: isOwner, inEnvironment: false });
  if (!storage.data) return null;
  const { data, totalBytes } = storage.data;
  const largest = data.filter(({ bytes }) => bytes > 0).slice(0, 6);
  const maxBytes = largest[0]?.bytes ?? 1;
  return (
    <Section
      title="Installation storage"
      actions={<span className="muted number">{readableSize(totalBytes)}</span>}
    >
      <dl className="card storage">
        {largest.map(({ class: name, bytes, rowsEstimate }) => (
          <div key={name} className="storage-row">
            <dt>{name}</dt>
            <dd className="storage-bar" aria-hidden="true">
              <span style={{ inlineSize: `${Math.max(0.5, (bytes / maxBytes) * 100)}%` }} />
            </dd>
            <dd className="number is-end">{readableSize(bytes)}</dd>
            <dd className="muted small number is-end">about {rowsEstimate.toLocaleString('en')} rows</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
