/** A page of a stranger's application: one component for each hook, shown one at a time. Bundled by hooks.test.ts with each version. */
import * as hooks from '@trigger.dev/react-hooks';
import { createRoot } from 'react-dom/client';

const facts = (run) =>
  run && { id: run.id, status: run.status, output: run.output, step: run.metadata?.step, tags: run.tags };

/** What each hook gives, as it is now. `act` is what a button would do. */
const components = {
  useRun: ({ id }) => {
    const { run, error } = hooks.useRun(id, { refreshInterval: 100 });
    return { run: facts(run), error };
  },
  useRealtimeRun: ({ id }) => {
    const { run, error } = hooks.useRealtimeRun(id, {
      onComplete: (last) => (globalThis.completed = last.status),
    });
    return { run: facts(run), error };
  },
  useRealtimeRunWithStreams: ({ id }) => {
    const { run, streams, error } = hooks.useRealtimeRunWithStreams(id);
    return { run: facts(run), streams, error };
  },
  useRealtimeRunsWithTag: ({ tag }) => {
    const { runs, error } = hooks.useRealtimeRunsWithTag(tag);
    return { runs: runs.map(facts), error };
  },
  useRealtimeBatch: ({ id }) => {
    const { runs, error } = hooks.useRealtimeBatch(id);
    return { runs: runs.map(facts), error };
  },
  useRealtimeStream: ({ id }) => {
    const { parts, error } = hooks.useRealtimeStream(id, 'words', { timeoutInSeconds: 5 });
    return { parts, error };
  },
  useInputStreamSend: ({ id }) => {
    const { send, isReady, error } = hooks.useInputStreamSend('answers', id);
    globalThis.act = () => send({ approved: true });
    return { isReady, error };
  },
  useTaskTrigger: ({ task }) => {
    const { submit, handle, error } = hooks.useTaskTrigger(task);
    globalThis.act = () => submit({ n: 4 }, { tags: ['from-a-page'] });
    return { handle, error };
  },
  useRealtimeTaskTrigger: ({ task }) => {
    const { submit, run, error } = hooks.useRealtimeTaskTrigger(task);
    globalThis.act = () => submit({ n: 5 });
    return { run: facts(run), error };
  },
  useRealtimeTaskTriggerWithStreams: ({ task }) => {
    const { submit, run, streams, error } = hooks.useRealtimeTaskTriggerWithStreams(task);
    globalThis.act = () => submit({ n: 6 });
    return { run: facts(run), streams, error };
  },
  useWaitToken: ({ id }) => {
    const { complete, isCompleted, error } = hooks.useWaitToken(id);
    globalThis.act = () => complete({ approved: true });
    return { isCompleted, error };
  },
  useSessionStream: ({ id }) => {
    const { records, error } = hooks.useSessionStream(id, { timeoutInSeconds: 5 });
    return { records, error };
  },
  useSessionStreamChannel: ({ id }) => {
    const { records, error } = hooks.useSessionStreamChannel('side', {
      sessionId: id,
      timeoutInSeconds: 5,
    });
    return { records, error };
  },
};

const root = createRoot(document.body.appendChild(document.createElement('div')));
let shown = 0;

function Shown({ name, props }) {
  const { error, ...rest } = components[name](props);
  return <pre>{JSON.stringify({ ...rest, ...(error && { error: error.message }) })}</pre>;
}

globalThis.exported = Object.keys(hooks);
globalThis.show = (name, props, auth) => {
  globalThis.completed = undefined;
  root.render(
    <hooks.TriggerAuthContext.Provider value={auth}>
      <Shown key={++shown} name={name} props={props} />
    </hooks.TriggerAuthContext.Provider>,
  );
};
