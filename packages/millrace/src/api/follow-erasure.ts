import { setTimeout as pause } from 'node:timers/promises';
import type { Erasure } from '@millrace/contract';

const pollMs = 300;

/** Reads an erasure until it has ended. `read` may return undefined for one that the server no longer has. */
export async function followErasure<E extends Erasure | undefined>(
  read: () => Promise<E>,
  onErased: (erased: number) => void,
): Promise<E> {
  for (;;) {
    const erasure = await read();
    if (erasure?.status !== 'PENDING') return erasure;
    onErased(erasure.counts.erased);
    await pause(pollMs);
  }
}
