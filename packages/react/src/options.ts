import type { MillraceAuth } from './auth-context.ts';

/** Options of all hooks that follow something. */
export interface SubscribeHookOptions extends MillraceAuth {
  /** Whether to subscribe. Default true. */
  enabled?: boolean | undefined;
  /** Minimum time between two renders for updates, in milliseconds. Default 16; 0 renders each update. */
  throttleInMs?: number | undefined;
  /** Has no effect, and is accepted because hooks of `@trigger.dev/react-hooks` with the same id share their state. */
  id?: string | undefined;
}

/** About one frame. */
const defaultThrottleInMs = 16;

export const throttleOf = ({ throttleInMs }: Pick<SubscribeHookOptions, 'throttleInMs'>): number =>
  throttleInMs ?? defaultThrottleInMs;
