import { Menu } from '@base-ui/react/menu';
import { browserTimeZone, setTimeZone, useTimeZone } from '../parts/time/zone.ts';
import { Icon } from '../parts/icons.tsx';
import '../parts/menu.css';

/** The zone in which times are shown. */
export function ZoneMenu() {
  const zone = useTimeZone();
  const zones = [...new Set([browserTimeZone(), 'UTC', zone])];
  return (
    <Menu.Root>
      <Menu.Trigger className="zone-button small" aria-label={`Time zone: ${zone}`} data-tip="Time zone">
        {shortZone(zone)}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="menu-place">
          <Menu.Popup className="menu">
            <Menu.RadioGroup value={zone} onValueChange={(next) => setTimeZone(String(next))}>
              {zones.map((one) => (
                <Menu.RadioItem key={one} value={one} className="menu-item" closeOnClick>
                  <span className="menu-mark">
                    <Menu.RadioItemIndicator>
                      <Icon name="check" size={14} />
                    </Menu.RadioItemIndicator>
                  </span>
                  {one}
                  {one === browserTimeZone() && <span className="muted small">this browser</span>}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

/** @example shortZone('Europe/Berlin') // 'GMT+1' */
function shortZone(zone: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'short' }).formatToParts();
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone;
}
