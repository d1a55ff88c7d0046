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
          ['Email', user.email ?? 'none'],
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
          Set or remove your password on the command line, where you are logged in with a token. A change logs
          out all your browsers.
        </p>
        <div>
          <Command text="npx millrace members set-password" />
        </div>
      </Section>
    </Page>
  );
}
