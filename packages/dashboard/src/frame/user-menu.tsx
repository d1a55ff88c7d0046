import { Menu } from '@base-ui/react/menu';
import { useNavigate } from '@tanstack/react-router';
import { queryClient } from '../api/ask.ts';
import { call } from '../api/client.ts';
import { sessionQuery, useSession } from '../api/session.ts';
import { toast } from '../api/toasts.ts';
import { messageOf } from '../api/api-error.ts';
import { Icon, type IconName } from '../parts/icons.tsx';
import { setTheme, useThemeChoice, type Theme } from '../parts/theme.ts';
import '../parts/menu.css';

const themes: readonly (readonly [Theme, string, IconName])[] = [
  ['system', 'As the system', 'screen'],
  ['light', 'Light', 'sun'],
  ['dark', 'Dark', 'moon'],
];

/** Who is logged in, the theme, and logging out. */
export function UserMenu() {
  const { user } = useSession();
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
    // The answer is 401 now: the login is shown in the stead of the page.
    await queryClient.resetQueries(sessionQuery);
  };
  return (
    <Menu.Root>
      <Menu.Trigger
        className="icon-button"
        aria-label={`${user.name}: account and theme`}
        data-tip={user.name}
      >
        <Icon name="person" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="menu-place">
          <Menu.Popup className="menu">
            <p className="menu-label cut">{user.email ?? user.name}</p>
            <Menu.Item className="menu-item" onClick={() => void navigate({ to: '/account' as '/' })}>
              <Icon name="person" size={14} />
              Account
            </Menu.Item>
            <Menu.Separator className="menu-line" />
            <Menu.RadioGroup
              value={theme}
              onValueChange={(next) => setTheme(next as Theme)}
              aria-label="Theme"
            >
              {themes.map(([value, label, icon]) => (
                <Menu.RadioItem key={value} value={value} className="menu-item" closeOnClick={false}>
                  <Icon name={icon} size={14} />
                  {label}
                  <span className="menu-mark env-check">
                    <Menu.RadioItemIndicator>
                      <Icon name="check" size={14} />
                    </Menu.RadioItemIndicator>
                  </span>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            <Menu.Separator className="menu-line" />
            <Menu.Item className="menu-item" onClick={() => void logOut()}>
              <Icon name="open" size={14} />
              Log out
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
