import { Menu } from '../parts/menu.tsx';
import { browserTimeZone, setTimeZone, useTimeZone } from '../parts/time/zone.ts';

/** The time zone of displayed times. */
export function ZoneMenu() {
  const zone = useTimeZone();
  const zones = [...new Set([browserTimeZone(), 'UTC', zone])];
  return (
    <Menu
      trigger={
        <button
          type="button"
          className="zone-button small"
          aria-label={`Time zone: ${zone}`}
          data-tip="Time zone"
        >
          {shortZone(zone)}
        </button>
      }
      entries={zones.map((name) => ({
        kind: 'radio',
        label: name,
        note: name === browserTimeZone() ? 'this browser' : undefined,
        isChosen: name === zone,
        onSelect: () => setTimeZone(name),
      }))}
    />
  );
}

/** @example shortZone('Europe/Berlin') // 'GMT+1' */
function shortZone(zone: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'short' }).formatToParts();
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone;
}
