import type { DeliveryStatus } from '@millrace/contract';
import type { Look } from '../../parts/status/run-status.ts';

const looks: Readonly<Record<DeliveryStatus, Look>> = {
  PENDING: { word: 'Waiting', glyph: 'clock', tone: 'busy' },
  DELIVERED: { word: 'Delivered', glyph: 'disc', tone: 'good' },
  FAILED: { word: 'Failed', glyph: 'cross', tone: 'bad' },
};

export const deliveryLook = (status: DeliveryStatus): Look => looks[status];
