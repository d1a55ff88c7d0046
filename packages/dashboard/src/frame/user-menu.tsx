import { useNavigate } from '@tanstack/react-router';
import { queryClient } from '../api/ask.ts';
import { call } from '../api/client.ts';
import { roleNames, sessionQuery, useProject, useSession } from '../api/session.ts';
import { toast } from '../api/toasts.ts';
import { messageOf } from '../api/api-error.ts';
import { IconButton } from '../parts/button.tsx';
import type { IconName } from '../parts/icons.tsx';
import { Menu } from '../parts/menu.tsx';
import { setTheme, useThemeChoice, type Theme } from '../parts/theme.ts';

const themes: readonly (readonly [Theme, string, IconName])[] = [
  ['system', 'System', 'screen'],
  ['light', 'Light', 'sun'],
  ['dark', 'Dark', 'moon'],
];

/** The current user, the theme, and logging out. */
export function UserMenu() {
  const { user } = useSession();
  const project = useProject();
  const theme = useThemeChoice();
  const navigate = useNavigate();
  const logOut = async (): Promise<void> => {
    try {
      await call('endCurrentBrowserSession', {});
    } catch (error) {
      toast({ title: `You are still logged in: ${messageOf(error)}`, kind: 'error' });
      return;
    }
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
    // The response is 401 now: the login is shown instead of the page.
    await queryClient.resetQueries(sessionQuery);
  };
  return (
    <Menu
      trigger={<IconButton icon="person" label={`${user.name}: account and theme`} />}
      entries={[
        {
          kind: 'label',
          label: project
            ? `${user.email ?? user.name}, ${roleNames[project.role]}`
            : (user.email ?? user.name),
        },
        { label: 'Account', icon: 'person', onSelect: () => void navigate({ to: '/account' }) },
        { kind: 'line' },
        ...themes.map(([value, label, icon]) => ({
          kind: 'radio' as const,
          keepsOpen: true,
          label,
          icon,
          isChosen: value === theme,
          onSelect: () => setTheme(value),
        })),
        { kind: 'line' },
        { label: 'Log out', icon: 'open', onSelect: () => void logOut() },
      ]}
    />
  );
}
