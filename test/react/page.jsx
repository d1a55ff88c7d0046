/** A page that uses the hooks: one component for each, shown one at a time below StrictMode. Bundled by browser.ts with each React. */
import * as hooks from '@millrace/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

const summary = (run) =>
  run && { id: run.id, status: run.status, output: run.output, step: run.metadata?.step, tags: run.tags };

/** The results of each hook. `act` is the action of a button. */
const components = {
  useRun: ({ id }) => {
    const { run, error, isLoading } = hooks.useRun(id, { refreshInterval: 100 });
    return { run: summary(run), isLoading, error };
  },
  useRealtimeRun: ({ id, ...options }) => {
    const { run, error, stop } = hooks.useRealtimeRun(id, {
      ...options,
      ...(options.refreshedToken && {
        refreshAccessToken: async () => {
          globalThis.refreshed += 1;
          return options.refreshedToken;
        },
      }),
      onComplete: (last) => globalThis.completed.push(last.status),
    });
    globalThis.act = stop;
    return { run: summary(run), error };
  },
  useRealtimeRunWithStreams: ({ id }) => {
    const { run, streams, error } = hooks.useRealtimeRunWithStreams(id);
    return { run: summary(run), streams, error };
  },
  useRealtimeRunsWithTag: ({ tag }) => {
    const { runs, error } = hooks.useRealtimeRunsWithTag(tag);
    return { runs: runs.map(summary), error };
  },
  useRealtimeBatch: ({ id }) => {
    const { runs, error } = hooks.useRealtimeBatch(id);
    return { runs: runs.map(summary), error };
  },
  useRealtimeStream: ({ id, ...options }) => {
    const { parts, lastEventId, error } = hooks.useRealtimeStream(id, 'words', options);
    return { parts, lastEventId, error };
  },
  useTaskTrigger: ({ task }) => {
    const { submit, handle, error } = hooks.useTaskTrigger(task);
    globalThis.act = () => submit({ n: 4 }, { tags: ['from-a-page'] });
    return { handle, error };
  },
  useRealtimeTaskTrigger: ({ task }) => {
    const { submit, run, error } = hooks.useRealtimeTaskTrigger(task);
    globalThis.act = () => submit({ n: 5 });
    return { run: summary(run), error };
  },
  useRealtimeTaskTriggerWithStreams: ({ task }) => {
    const { submit, run, streams, error } = hooks.useRealtimeTaskTriggerWithStreams(task);
    globalThis.act = () => submit({ n: 6 });
    return { run: summary(run), streams, error };
  },
  useWaitToken: ({ id }) => {
    const { complete, isReady, isCompleted, error } = hooks.useWaitToken(id);
    globalThis.act = () => complete({ approved: true });
    return { isReady, isCompleted, error };
  },
};

const root = createRoot(document.body.appendChild(document.createElement('div')));

function Shown({ name, props }) {
  const { error, ...rest } = components[name](props);
  return <pre>{JSON.stringify({ ...rest, ...(error && { error: error.message }) })}</pre>;
}

/** Shows a hook. With the same `key`, the component remains mounted and receives other options. */
globalThis.show = (name, props, auth, key) => {
  globalThis.completed = [];
  globalThis.refreshed = 0;
  root.render(
    <StrictMode>
      <hooks.MillraceAuthProvider {...auth}>
        {name && <Shown key={key} name={name} props={props} />}
      </hooks.MillraceAuthProvider>
    </StrictMode>,
  );
};
