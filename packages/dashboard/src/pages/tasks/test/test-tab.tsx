import { Suspense, use, useEffect, useState } from 'react';
import { useAct } from '../../../api/ask.ts';
import { useEnvironment, useEnvironmentParams } from '../../../api/environment.ts';
import { environmentNames } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { CodeExample, shellWord } from '../../../parts/code/code-tabs.tsx';
import { Skeleton } from '../../../parts/failure.tsx';
import { Id } from '../../../parts/id.tsx';
import { isMac, useShortcuts } from '../../../parts/keyboard.ts';
import { PageLink } from '../../../parts/page-link.tsx';
import { Section } from '../../../parts/page.tsx';
import { RunPanelContext } from '../../../parts/runs/run-panel.tsx';
import { useSearchTexts } from '../../../parts/search.ts';
import { Segments } from '../../../parts/segments.tsx';
import type { TaskDetail } from '../task-detail.ts';
import { keepDraft, readDraft } from './draft.ts';
import { Earlier } from './earlier.tsx';
import { mismatches } from '../../../parts/schema/mismatches.ts';
import { OptionFields } from './option-fields.tsx';
import { bodyOf, chosenOptions, cliOptions, noOptions } from './options.ts';
import { parsePayload } from './parse-payload.ts';
import { PayloadEditor } from './payload-editor.tsx';
import { exampleOf, kindOf, resolved } from '../../../parts/schema/schema.ts';
import { SchemaForm } from '../../../parts/schema/schema-form.tsx';

const textOf = (payload: unknown): string =>
  payload === undefined ? '' : JSON.stringify(payload, undefined, 2);

/** Tests a task: a payload as a form or as JSON, options, and the run while it executes. */
export function TestTab({ task }: { readonly task: TaskDetail }) {
  const { project, env } = useEnvironmentParams();
  const { kind } = useEnvironment();
  const schema = task.payloadSchema;
  const hasForm = schema !== null && kindOf(resolved(schema, schema)) === 'object';
  const [{ as = hasForm ? 'form' : 'json', run: runId }, setSearch] = useSearchTexts();
  const [draft] = useState(() => readDraft(project, env, task.id));
  const [text, setText] = useState(
    () => draft?.text ?? textOf(schema === null ? {} : exampleOf(schema, schema)),
  );
  const [options, setOptions] = useState(() => ({ ...noOptions, ...draft?.options }));
  const [isChecked, setChecked] = useState(false);
  useEffect(
    () => keepDraft({ text, options }, project, env, task.id),
    [text, options, project, env, task.id],
  );

  const trigger = useAct('triggerTask', {
    invalidates: ['listRuns', 'countRuns'],
    showsErrors: true,
    onDone: ({ id }) => setSearch({ run: id, tab: undefined }, { push: true }),
  });
  const payload = parsePayload(text);
  const isForm = hasForm && as === 'form' && payload.error === undefined;
  const wrong =
    schema === null || payload.error !== undefined || text.trim() === ''
      ? []
      : mismatches(schema, payload.value);
  const start = (): void => {
    setChecked(true);
    if (payload.error !== undefined || trigger.isPending) return;
    trigger.mutate({ params: { taskId: task.id }, body: bodyOf(payload.value, options) });
  };
  useShortcuts([{ keys: 'Mod+Enter', label: 'Start the test', run: start, whileTyping: true }]);
  const chosen = chosenOptions(options);
  const environment = environmentNames[kind as keyof typeof environmentNames] ?? kind;

  return (
    <div className="test-columns">
      <form
        className="stack"
        aria-label="Test"
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <div className="row spread wrap">
          {hasForm ? (
            <Segments
              label="Payload format"
              options={[
                { value: 'form', label: 'Form', isDisabled: payload.error !== undefined },
                { value: 'json', label: 'JSON' },
              ]}
              value={isForm ? 'form' : 'json'}
              onChange={(way) => setSearch({ as: way })}
            />
          ) : (
            <span className="muted small">{schema === null && 'The task has no schema: enter JSON.'}</span>
          )}
          <Button
            variant="plain"
            onClick={() => setText(textOf(schema === null ? {} : exampleOf(schema, schema)))}
          >
            Start over
          </Button>
        </div>
        {isForm && schema !== null ? (
          <SchemaForm schema={schema} value={payload.value} onChange={(next) => setText(textOf(next))} />
        ) : (
          <PayloadEditor
            value={text}
            onChange={setText}
            schema={schema}
            error={isChecked || text.length > 2 ? payload.error : undefined}
          />
        )}
        {wrong.length > 0 && (
          <div className="notice tone-warn" role="status">
            <div>
              <p>The schema does not allow this payload: the run would fail.</p>
              <ul className="muted">
                {wrong.map((sentence) => (
                  <li key={sentence}>{sentence}</li>
                ))}
              </ul>
            </div>
          </div>
        )}
        <details className="card test-options">
          <summary>Options{chosen > 0 && <span className="muted">, {chosen} chosen</span>}</summary>
          <OptionFields options={options} onChange={setOptions} error={trigger.error} />
        </details>
        {trigger.error && (
          <p className="field-error" role="alert">
            {trigger.error.message}
          </p>
        )}
        <div className="row wrap test-start">
          <Button
            type="submit"
            variant="main"
            icon="play"
            isBusy={trigger.isPending}
            shortcut={`${isMac ? '⌘' : 'Ctrl'} Enter`}
          >
            {`Start a ${options.isTest ? 'test' : 'run'} in ${environment}`}
          </Button>
          <CodeExample
            operation="triggerTask"
            input={{
              params: { taskId: task.id },
              body: bodyOf(payload.error === undefined ? payload.value : {}, options),
            }}
            cli={[
              `trigger ${shellWord(task.id)}`,
              `--payload ${shellWord(JSON.stringify(payload.error === undefined ? (payload.value ?? {}) : {}))}`,
              ...cliOptions(options).map(shellWord),
            ].join(' ')}
            sdk={`import { tasks } from '@millrace/sdk';\n\nawait tasks.trigger(\n  ${JSON.stringify(task.id)},\n  ${text.trim() === '' ? '{}' : text.replaceAll('\n', '\n  ')},\n);`}
          />
        </div>
        <Earlier taskId={task.id} onChoose={(earlier) => setText(textOf(earlier))} />
      </form>
      <TestRun runId={runId} />
    </div>
  );
}

/** The triggered run, live. */
function TestRun({ runId }: { readonly runId: string | undefined }) {
  const Content = use(RunPanelContext);
  if (runId === undefined || !Content)
    return (
      <div className="test-nothing muted">
        <p>The run appears here once it is started, with its timeline, log and output.</p>
      </div>
    );
  return (
    <Section
      title="The run"
      actions={
        <Id id={runId}>
          <PageLink to={`/runs/${runId}`}>{runId}</PageLink>
        </Id>
      }
    >
      <div className="stack">
        <Suspense fallback={<Skeleton lines={8} label="Loading the run" />}>
          <Content key={runId} runId={runId} />
        </Suspense>
      </div>
    </Section>
  );
}
