import type { IconName } from '../parts/icons.tsx';

export interface FrameLink {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** The key to press after `g`. */
  readonly key: string;
  /** Also highlighted on pages below these. */
  readonly also?: readonly string[];
}

/** The pages of an environment in the order of the rail. A new page gets a line here and its route in routes.tsx. */
export const frameLinks: readonly FrameLink[] = [
  { to: '', label: 'Overview', icon: 'overview', key: 'g o' },
  { to: '/runs', label: 'Runs', icon: 'runs', key: 'g r' },
  { to: '/tasks', label: 'Tasks', icon: 'tasks', key: 'g t' },
  { to: '/charts', label: 'Charts', icon: 'charts', key: 'g a' },
  { to: '/errors', label: 'Errors', icon: 'errors', key: 'g e' },
  { to: '/queues', label: 'Queues', icon: 'queues', key: 'g q' },
  { to: '/schedules', label: 'Schedules', icon: 'schedules', key: 'g s' },
  { to: '/batches', label: 'Batches', icon: 'batches', key: 'g b', also: ['/bulk'] },
  { to: '/events', label: 'Events', icon: 'events', key: 'g v' },
  { to: '/webhooks', label: 'Webhooks', icon: 'webhooks', key: 'g h', also: ['/webhook-deliveries'] },
  { to: '/waits', label: 'Waits', icon: 'waits', key: 'g w' },
  { to: '/sessions', label: 'Sessions', icon: 'sessions', key: 'g c' },
  { to: '/versions', label: 'Versions', icon: 'versions', key: 'g d' },
  { to: '/variables', label: 'Variables', icon: 'variables', key: 'g x' },
  { to: '/notifications', label: 'Notifications', icon: 'bell', key: 'g n' },
  { to: '/settings', label: 'Settings', icon: 'settings', key: 'g ,' },
];
