import {
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { ApiError } from './api-error.ts';
import { call, type Environment } from './client.ts';
import { useEnvironment } from './environment.ts';
import { markUpdated, useLive } from './live.ts';
import type { InputOf, OperationName, ReplyOf } from './operation-types.ts';
import { toast } from './toasts.ts';

const liveMs = 5_000;
const maxBackOffMs = 60_000;

/** Shared by the whole page. Old data remains on the screen during a request and after a failed one. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      staleTime: 2_000,
      gcTime: 10 * 60_000,
      retry: (failures, error) => error instanceof ApiError && error.isOutage && failures < 2,
      retryDelay: 500,
      refetchOnWindowFocus: true,
    },
    mutations: { networkMode: 'always', retry: false },
  },
});

interface AskOptions {
  /** Repeats the request at this interval in milliseconds, or every five seconds with `true`, while the page is visible and not paused. */
  readonly live?: boolean | number;
  /** If false, no request is made yet. */
  readonly enabled?: boolean;
  /** The response never changes: it is requested once. */
  readonly isConstant?: boolean;
  /** Shows the response for earlier parameters until a new one arrives. Default true. */
  readonly keepPrevious?: boolean;
  /** False for calls about the user or the object in the path rather than the environment in the address. */
  readonly inEnvironment?: boolean;
}

/** Milliseconds until the next request: longer after each failure, and at least as long as the server requests. */
export function backOffMs(everyMs: number, failures: number, error: unknown): number {
  const requestedMs = error instanceof ApiError ? (error.retryAfter ?? 0) * 1_000 : 0;
  return Math.max(requestedMs, Math.min(maxBackOffMs, everyMs * 2 ** Math.min(failures, 6)));
}

const everyMsOf = (live: boolean | number): number | false =>
  live === false ? false : live === true ? liveMs : live;

export const keyOf = (environment: Environment | undefined, name: OperationName, input: unknown) =>
  [name, environment ?? null, input] as const;

/**
 * Calls a read operation, repeatedly if it is `live`.
 *
 * @example
 * const queues = useAsk('listQueues', { query: { perPage: 100 } }, { live: true });
 */
export function useAsk<N extends OperationName>(
  name: N,
  input: InputOf<N>,
  {
    live = false,
    enabled = true,
    isConstant = false,
    keepPrevious = true,
    inEnvironment = true,
  }: AskOptions = {},
): UseQueryResult<ReplyOf<N>> {
  const { isPaused } = useLive();
  const current = useEnvironment();
  const environment = inEnvironment ? current : undefined;
  const every = isPaused ? false : everyMsOf(live);
  return useQuery<ReplyOf<N>>({
    queryKey: keyOf(environment, name, input),
    queryFn: async ({ signal }) => {
      const reply = await call(name, input, { environment, signal });
      if (live !== false) markUpdated();
      return reply;
    },
    enabled,
    refetchInterval: ({ state }) =>
      every !== false &&
      backOffMs(every, state.status === 'error' ? state.fetchFailureCount : 0, state.error),
    refetchIntervalInBackground: false,
    ...(isConstant && { staleTime: Infinity }),
    ...(keepPrevious && { placeholderData: keepPreviousData }),
  });
}

/** Operations with paged responses. */
type PagedName = {
  [N in OperationName]: ReplyOf<N> extends { pagination: { next?: string } } ? N : never;
}[OperationName];

interface PagesOf<P> {
  readonly pages: readonly P[];
  readonly isPending: boolean;
  readonly isFetching: boolean;
  readonly isLoadingMore: boolean;
  readonly error: Error | null;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly refetch: () => void;
  /** Starts over with the first page. */
  readonly reset: () => void;
}

/** Pages with a cursor. With `live`, all loaded pages are requested again: the more pages, the less often. */
export function usePages<N extends PagedName>(
  name: N,
  input: InputOf<N>,
  { enabled = true, live = false, keepPrevious = true }: Omit<AskOptions, 'inEnvironment'> = {},
): PagesOf<ReplyOf<N>> {
  const { isPaused } = useLive();
  const environment = useEnvironment();
  const client = useQueryClient();
  const queryKey = [...keyOf(environment, name, input), 'pages'];
  const every = isPaused ? false : everyMsOf(live);
  const result = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...input.query, ...(pageParam !== undefined && { 'page[after]': pageParam }) };
      const reply = await call(name, { ...input, query }, { environment, signal });
      if (live !== false) markUpdated();
      return reply;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last as { pagination: { next?: string } }).pagination.next,
    enabled,
    refetchInterval: ({ state }) =>
      every !== false &&
      backOffMs(
        every * (state.data?.pages.length ?? 1),
        state.status === 'error' ? state.fetchFailureCount : 0,
        state.error,
      ),
    refetchIntervalInBackground: false,
    ...(keepPrevious && { placeholderData: keepPreviousData }),
  });
  return {
    pages: result.data?.pages ?? [],
    isPending: result.isPending,
    isFetching: result.isFetching,
    isLoadingMore: result.isFetchingNextPage,
    error: result.error,
    hasMore: result.hasNextPage,
    loadMore: () => {
      // A table requests more each time it is rendered: a failed request is not repeated immediately.
      const hasJustFailed = result.isFetchNextPageError && Date.now() - result.errorUpdatedAt < liveMs;
      if (result.hasNextPage && !result.isFetchingNextPage && !hasJustFailed) void result.fetchNextPage();
    },
    refetch: () => void result.refetch(),
    reset: () => void client.resetQueries({ queryKey }),
  };
}

export type ListName = {
  [N in PagedName]: ReplyOf<N> extends { data: readonly unknown[] } ? N : never;
}[PagedName];
export type ItemOf<N extends ListName> = ReplyOf<N> extends { data: readonly (infer I)[] } ? I : never;

export interface Pages<I> extends Omit<PagesOf<never>, 'pages'> {
  readonly items: readonly I[];
}

/**
 * A list with keyset pages. `loadMore` adds the next page; the virtual table calls it near its end. It is not refreshed automatically: a live
 * page requests the first page with `useAsk` and shows the number of new rows: `useLiveList`.
 */
export function useAskPages<N extends ListName>(
  name: N,
  input: InputOf<N>,
  { enabled = true }: Pick<AskOptions, 'enabled'> = {},
): Pages<ItemOf<N>> {
  const { pages, ...rest } = usePages(name, input, { enabled });
  return {
    ...rest,
    items: (pages as readonly { data: readonly ItemOf<N>[] }[]).flatMap(({ data }) => data),
  };
}

interface ActOptions<N extends OperationName> {
  /** The operations whose responses it invalidates; they are requested again. Default: all. */
  readonly invalidates?: readonly OperationName[];
  readonly onDone?: (reply: ReplyOf<N>, input: InputOf<N>) => void;
  /** The message of the toast after success. */
  readonly done?: string | ((reply: ReplyOf<N>, input: InputOf<N>) => string);
  /** If true, the caller shows its errors (as a form does). Otherwise a toast does. */
  readonly showsErrors?: boolean;
  readonly inEnvironment?: boolean;
}

/** A change whose response is lost is repeated once, with the same request key: so that the server executes it only once. */
async function act<N extends OperationName>(
  name: N,
  input: InputOf<N>,
  environment: Environment | undefined,
): Promise<ReplyOf<N>> {
  const options = { environment, requestKey: crypto.randomUUID() };
  try {
    return await call(name, input, options);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return call(name, input, options);
  }
}

/**
 * A change. Each `mutate` has its own request key, so a change whose response is lost is not carried out twice.
 *
 * @example
 * const cancel = useAct('cancelRun', { done: 'Run cancelled', outdates: ['listRuns', 'retrieveRun'] });
 * cancel.mutate({ params: { runId } });
 */
export function useAct<N extends OperationName>(
  name: N,
  { invalidates, onDone, done, showsErrors = false, inEnvironment = true }: ActOptions<N> = {},
): UseMutationResult<ReplyOf<N>, Error, InputOf<N>> {
  const current = useEnvironment();
  const environment = inEnvironment ? current : undefined;
  const client = useQueryClient();
  return useMutation<ReplyOf<N>, Error, InputOf<N>>({
    mutationFn: (input) => act(name, input, environment),
    onSuccess: async (reply, input) => {
      if (done !== undefined) toast({ title: typeof done === 'string' ? done : done(reply, input) });
      onDone?.(reply, input);
      await client.invalidateQueries({
        predicate: ({ queryKey }) =>
          invalidates === undefined || invalidates.includes(queryKey[0] as OperationName),
      });
    },
    onError: (error) => {
      if (!showsErrors) toast({ title: error.message, kind: 'error' });
    },
  });
}
