import { useAsk } from '../../api/ask.ts';
import type { ReplyOf } from '../../api/operation-types.ts';

type Deployment = ReplyOf<'retrieveCurrentDeployment'>;

/** The current version, on which new runs start, and the canary. Both undefined until a version was promoted. */
export function useInForce(): {
  readonly current: Deployment | undefined;
  readonly canary: Deployment | undefined;
} {
  const current = useAsk('retrieveCurrentDeployment', {}, { live: true });
  const newest = useAsk('listDeployments', { query: { 'page[size]': 100 } }, { live: true });
  return {
    current: current.error ? undefined : current.data,
    canary: newest.data?.data.find(({ canaryPercent }) => canaryPercent !== null),
  };
}
