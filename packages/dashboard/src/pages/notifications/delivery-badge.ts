import type { DeliveryStatus } from '@millrace/contract';
import type { Badge } from '../../parts/status/run-status.ts';

const badges: Readonly<Record<DeliveryStatus, Badge>> = {
  PENDING: { word: 'Waiting', glyph: 'clock', tone: 'busy' },
  DELIVERED: { word: 'Delivered', glyph: 'disc', tone: 'good' },
  FAILED: { word: 'Failed', glyph: 'cross', tone: 'bad' },
};

export const deliveryBadge = (status: DeliveryStatus): Badge => badges[status];
