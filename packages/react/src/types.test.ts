import { task, type RunHandle } from '@millrace/sdk';
import { expectTypeOf, test } from 'vitest';
import {
  useRealtimeRun,
  useRealtimeStream,
  type useRealtimeBatch,
  type useRealtimeRunWithStreams,
  type useRealtimeTaskTrigger,
  type useRun,
  type useTaskTrigger,
  type useWaitToken,
} from './index.ts';

const resize = task({ id: 'resize', run: async ({ url }: { url: string }) => ({ bytes: url.length }) });
type Resize = typeof resize;
type Output = { bytes: number } | undefined;
type OutputOf<F extends (...args: never) => { run: { output?: unknown } | undefined }> = NonNullable<
  ReturnType<F>['run']
>['output'];

test('payloads, outputs and chunks have the types of the task and the stream', () => {
  const ofId = (id: string | undefined) => useRealtimeRun<Resize>(id);
  expectTypeOf<OutputOf<typeof ofId>>().toEqualTypeOf<Output>();
  const ofHandle = (handle: RunHandle<'resize', { bytes: number }> | undefined) => useRealtimeRun(handle);
  expectTypeOf<OutputOf<typeof ofHandle>>().toEqualTypeOf<Output>();
  expectTypeOf<OutputOf<typeof useRun<Resize>>>().toEqualTypeOf<Output>();
  expectTypeOf<OutputOf<typeof useRealtimeTaskTrigger<Resize>>>().toEqualTypeOf<Output>();
  expectTypeOf<
    NonNullable<ReturnType<typeof useRealtimeBatch<Resize>>['runs'][number]>['output']
  >().toEqualTypeOf<Output>();

  type Trigger = ReturnType<typeof useTaskTrigger<Resize>>;
  expectTypeOf<Parameters<Trigger['submit']>[0]>().toEqualTypeOf<{ url: string }>();
  expectTypeOf<Parameters<typeof useTaskTrigger<Resize>>[0]>().toEqualTypeOf<'resize'>();
  expectTypeOf<NonNullable<Trigger['handle']>['id']>().toBeString();

  type WithStreams = ReturnType<typeof useRealtimeRunWithStreams<Resize, { answer: string }>>;
  expectTypeOf<WithStreams['streams']['answer']>().toEqualTypeOf<string[] | undefined>();
  const ofDefined = (stream: { id: string; append(chunk: number): void }) =>
    useRealtimeStream(stream, 'run_1');
  expectTypeOf<ReturnType<typeof ofDefined>['parts']>().toEqualTypeOf<number[]>();
  type Approval = ReturnType<typeof useWaitToken<{ approved: boolean }>>;
  expectTypeOf<Parameters<Approval['complete']>>().toEqualTypeOf<[output: { approved: boolean }]>();
});
