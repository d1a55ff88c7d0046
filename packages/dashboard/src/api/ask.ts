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
import type { Given, OperationName, ReplyOf } from './operation-types.ts';
import { toast } from './toasts.ts';

const liveMs = 5_000;
const maxBackOffMs = 60_000;

/** One for the whole page. Old data stays on the screen while new data is asked for, and when asking fails. */
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
  /** Asks again every so many milliseconds, or every five seconds with `true`, while the page is visible and not paused. */
  readonly live?: boolean | number;
  /** False: it is not asked yet. */
  readonly enabled?: boolean;
  /** What it answers never changes: it is asked once. */
  readonly isConstant?: boolean;
  /** Shows what another given had answered until this one does. Default true. */
  readonly keepPrevious?: boolean;
  /** False: about the user or what the path names, not about the environment of the address. */
  readonly inEnvironment?: boolean;
}

/** How long until the next question: longer after each failure, and as long as the server asks for. */
export function backOffMs(everyMs: number, failures: number, error: unknown): number {
  const asked = error instanceof ApiError ? (error.retryAfter ?? 0) * 1_000 : 0;
  return Math.max(asked, Math.min(maxBackOffMs, everyMs * 2 ** Math.min(failures, 6)));
}

const everyMsOf = (live: boolean | number): number | false =>
  live === false ? false : live === true ? liveMs : live;

export const keyOf = (environment: Environment | undefined, name: OperationName, given: unknown) =>
  [name, environment ?? null, given] as const;

/**
 * Asks an operation that reads, and keeps asking when it is `live`.
 *
 * @example
 * const queues = useAsk('listQueues', { query: { perPage: 100 } }, { live: true });
 */
export function useAsk<N extends OperationName>(
  name: N,
  given: Given<N>,
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
    queryKey: keyOf(environment, name, given),
    queryFn: async ({ signal }) => {
      const reply = await call(name, given, { environment, signal });
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

/** Operations whose answers are pages of something. */
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
  /** Begins again with the first page. */
  readonly reset: () => void;
}

/** Pages with a cursor. With `live`, all that were loaded are asked for again: the more there are, the less often. */
export function usePages<N extends PagedName>(
  name: N,
  given: Given<N>,
  { enabled = true, live = false, keepPrevious = true }: Omit<AskOptions, 'inEnvironment'> = {},
): PagesOf<ReplyOf<N>> {
  const { isPaused } = useLive();
  const environment = useEnvironment();
  const client = useQueryClient();
  const queryKey = [...keyOf(environment, name, given), 'pages'];
  const every = isPaused ? false : everyMsOf(live);
  const result = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...given.query, ...(pageParam !== undefined && { 'page[after]': pageParam }) };
      const reply = await call(name, { ...given, query }, { environment, signal });
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
      // A table asks for more each time it is drawn: not again at once for what has just failed.
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
 * A list with keyset pages. `loadMore` adds the next page; the virtual table calls it near its end. It does not ask again by itself: a page that is
 * live asks for the first page with `useAsk` and tells how many rows are new: `useLiveList`.
 */
export function useAskPages<N extends ListName>(
  name: N,
  given: Given<N>,
  { enabled = true }: Pick<AskOptions, 'enabled'> = {},
): Pages<ItemOf<N>> {
  const { pages, ...rest } = usePages(name, given, { enabled });
  return {
    ...rest,
    items: (pages as readonly { data: readonly ItemOf<N>[] }[]).flatMap(({ data }) => data),
  };
}

interface ActOptions<N extends OperationName> {
  /** What is no longer true after it: every question of these operations is asked again. Default: all questions. */
  readonly outdates?: readonly OperationName[];
  readonly onDone?: (reply: ReplyOf<N>, given: Given<N>) => void;
  /** A sentence that a toast shows when it is done. */
  readonly done?: string | ((reply: ReplyOf<N>, given: Given<N>) => string);
  /** True: the caller shows its errors (a form does). Else a toast does. */
  readonly showsErrors?: boolean;
  readonly inEnvironment?: boolean;
}

/** A change whose reply is lost is asked for once more, with the same request key: the server does it once. */
async function act<N extends OperationName>(
  name: N,
  given: Given<N>,
  environment: Environment | undefined,
): Promise<ReplyOf<N>> {
  const options = { environment, requestKey: crypto.randomUUID() };
  try {
    return await call(name, given, options);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 0) throw error;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return call(name, given, options);
  }
}

/**
 * A change. Each `mutate` has a request key of its own, so a change whose reply is lost is not done twice.
 *
 * @example
 * const cancel = useAct('cancelRun', { done: 'Run cancelled', outdates: ['listRuns', 'retrieveRun'] });
 * cancel.mutate({ params: { runId } });
 */
export function useAct<N extends OperationName>(
  name: N,
  { outdates, onDone, done, showsErrors = false, inEnvironment = true }: ActOptions<N> = {},
): UseMutationResult<ReplyOf<N>, Error, Given<N>> {
  const current = useEnvironment();
  const environment = inEnvironment ? current : undefined;
  const client = useQueryClient();
  return useMutation<ReplyOf<N>, Error, Given<N>>({
    mutationFn: (given) => act(name, given, environment),
    onSuccess: async (reply, given) => {
      if (done !== undefined) toast({ title: typeof done === 'string' ? done : done(reply, given) });
      onDone?.(reply, given);
      await client.invalidateQueries({
        predicate: ({ queryKey }) =>
          outdates === undefined || outdates.includes(queryKey[0] as OperationName),
      });
    },
    onError: (error) => {
      if (!showsErrors) toast({ title: error.message, kind: 'error' });
    },
  });
}
