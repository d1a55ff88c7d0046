import type { AuditEntry } from '@millrace/contract';
import { Button } from '../../../parts/button.tsx';
import { Id } from '../../../parts/id.tsx';
import { JsonTree } from '../../../parts/json/json-tree.tsx';
import { Properties, Section } from '../../../parts/page.tsx';
import { SidePanel } from '../../../parts/panel/side-panel.tsx';
import { Person } from '../../../parts/people.tsx';
import { useSearchTexts } from '../../../parts/search.ts';
import { Time } from '../../../parts/time/time.tsx';

const kinds = {
  user: 'User',
  secretKey: 'Secret key',
  invitation: 'Invitation',
  provider: 'Identity provider',
} as const;

/** One act: the values before and after, and its origin. */
export function AuditPanel({ entry }: { readonly entry: AuditEntry | undefined }) {
  const [, setSearch] = useSearchTexts();
  return (
    <SidePanel
      isOpen={entry !== undefined}
      onClose={() => setSearch({ panel: undefined })}
      title={entry?.act ?? ''}
      actions={
        entry && (
          <Button
            onClick={() =>
              setSearch({ target: entry.target, act: undefined, panel: undefined }, { push: true })
            }
          >
            All actions on this
          </Button>
        )
      }
    >
      {entry && (
        <div className="stack" key={entry.id}>
          <Properties
            properties={[
              ['When', <Time key="at" at={entry.at} exact />],
              [
                kinds[entry.actor.kind],
                entry.actor.kind === 'user' ? (
                  <Person key="who" id={entry.actor.id} />
                ) : (
                  <Id key="who" id={entry.actor.id} short />
                ),
              ],
              entry.actor.credentialId === undefined
                ? undefined
                : ['With', <Id key="with" id={entry.actor.credentialId} short />],
              ['To', <Id key="target" id={entry.target} />],
              entry.projectRef === undefined
                ? undefined
                : ['Project', <Id key="project" id={entry.projectRef} />],
              entry.environment === undefined ? undefined : ['Environment', entry.environment],
              ['From', <code key="from">{entry.from.address}</code>],
              ['Request', <Id key="request" id={entry.requestId} short />],
              entry.from.userAgent === undefined ? undefined : ['User agent', entry.from.userAgent],
            ]}
          />
          {entry.old && (
            <Section title="Before">
              <JsonTree value={entry.old} label="Before" depth={4} />
            </Section>
          )}
          {entry.new && (
            <Section title="After">
              <JsonTree value={entry.new} label="After" depth={4} />
            </Section>
          )}
        </div>
      )}
    </SidePanel>
  );
}
