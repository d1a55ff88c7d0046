import { useSession, roleNames } from '../../api/session.ts';
import { Command } from '../../parts/empty.tsx';
import { Id } from '../../parts/id.tsx';
import { Properties, Page, Section } from '../../parts/page.tsx';
import { Approve } from './approve.tsx';
import { Browsers } from './browsers.tsx';
import { Tokens } from './tokens.tsx';
import './account.css';

/** The user's own data, outside of environments: profile, browser sessions, tokens. */
export function AccountPage() {
  const { user, organizations } = useSession();
  return (
    <Page title="Account" summary={user.email ?? user.name}>
      <Properties
        properties={[
          ['Name', user.name],
          ['Mail', user.email ?? 'none'],
          ['Id', <Id key="id" id={user.id} />],
          [
            'Organizations',
            organizations.length === 0
              ? 'none'
              : organizations.map(({ name, role }) => `${name} (${roleNames[role]})`).join(', '),
          ],
        ]}
      />
      <Approve />
      <Browsers />
      <Tokens />
      <Section title="Password">
        <p className="muted">
          A password is set or removed where you are logged in with a token, never in a browser. All your
          browsers are logged out by it.
        </p>
        <div>
          <Command text="npx millrace members set-password" />
        </div>
      </Section>
    </Page>
  );
}
