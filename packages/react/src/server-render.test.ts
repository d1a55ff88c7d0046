import { createElement, StrictMode, type ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import * as hooks from './index.ts';

/** Shows the results of all hooks as text. */
function All(): ReactElement {
  const followed = hooks.useRealtimeRun('run_1');
  const run = hooks.useRun('run_1', { refreshInterval: 1 });
  const withStreams = hooks.useRealtimeRunWithStreams('run_1');
  const tagged = hooks.useRealtimeRunsWithTag('tag');
  const batch = hooks.useRealtimeBatch('batch_1');
  const stream = hooks.useRealtimeStream('run_1', 'words');
  const trigger = hooks.useRealtimeTaskTrigger('work');
  const triggerWithStreams = hooks.useRealtimeTaskTriggerWithStreams('work');
  const token = hooks.useWaitToken('waitpoint_1');
  const results = { followed, run, withStreams, tagged, batch, stream, trigger, triggerWithStreams, token };
  const texts = JSON.stringify(results, (_, value: unknown) =>
    value instanceof Error ? value.message : value,
  );
  return createElement('pre', { dangerouslySetInnerHTML: { __html: texts } });
}

const rendered = (auth: hooks.MillraceAuth): unknown => {
  const page = createElement(hooks.MillraceAuthProvider, auth, createElement(All));
  const html = renderToString(createElement(StrictMode, null, page));
  return JSON.parse(html.replaceAll(/<\/?pre>/g, ''));
};

const request = { isLoading: false };

test('a server renders the initial state of all hooks, and sends no request', async () => {
  const { fetch } = globalThis;
  const requested: unknown[] = [];
  globalThis.fetch = async (input) => {
    requested.push(input);
    throw new Error('not on a server');
  };
  try {
    expect(rendered({ accessToken: 'a-token', baseURL: 'http://127.0.0.1:1' })).toEqual({
      followed: {},
      run: { isLoading: true, isValidating: true, isError: false },
      withStreams: { streams: {} },
      tagged: { runs: [] },
      batch: { runs: [] },
      stream: { parts: [] },
      trigger: request,
      triggerWithStreams: { ...request, streams: {} },
      token: { ...request, isReady: true, isCompleted: false },
    });
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(requested).toEqual([]);
  } finally {
    globalThis.fetch = fetch;
  }
});

test('a hook without a token or a server returns an error, and never uses the key of the server process', () => {
  process.env['MILLRACE_SECRET_KEY'] = 'svc_dev_sk_secret';
  process.env['MILLRACE_API_URL'] = 'http://127.0.0.1:1';
  try {
    const error = expect.stringMatching(/^Missing accessToken: pass a public access token/) as string;
    expect(rendered({ baseURL: 'http://127.0.0.1:1' })).toMatchObject({
      followed: { error },
      run: { error, isError: true, isLoading: false },
      tagged: { error },
      stream: { error },
      trigger: request,
    });
    const noServer = expect.stringMatching(/^Missing baseURL: pass the address/) as string;
    expect(rendered({ accessToken: 'a-token' })).toMatchObject({ batch: { error: noServer } });
  } finally {
    delete process.env['MILLRACE_SECRET_KEY'];
    delete process.env['MILLRACE_API_URL'];
  }
});
