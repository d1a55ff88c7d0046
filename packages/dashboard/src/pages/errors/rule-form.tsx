import { useState } from 'react';
import { useAct } from '../../api/ask.ts';
import { useEnvironment } from '../../api/environment.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { fieldError, TextField } from '../../parts/form/field.tsx';
import { RulePreview } from './rule-preview.tsx';

export interface RulePatterns {
  readonly task: string;
  readonly type: string;
  readonly message: string;
}

interface RuleFormProps {
  readonly start?: RulePatterns | undefined;
  readonly onAdded: () => void;
}

/** A rule pattern that matches a text literally: `*` and `\` are escaped. */
export const patternOf = (text: string): string => text.slice(0, 500).replaceAll(/[\\*]/g, String.raw`\$&`);

/** A rule that can be previewed before it is added, against the latest failures. */
export function RuleForm({ start, onAdded }: RuleFormProps) {
  const { project: projectRef } = useEnvironment();
  const may = useMay();
  const [task, setTask] = useState(start ? patternOf(start.task) : '');
  const [type, setType] = useState(start ? patternOf(start.type) : '');
  const [message, setMessage] = useState(start ? patternOf(start.message) : '');
  const [groupKey, setGroupKey] = useState('');
  const [tried, setTried] = useState('');
  const preview = useAct('previewErrorRule', { inEnvironment: false, invalidates: [], showsErrors: true });
  const create = useAct('createErrorRule', {
    inEnvironment: false,
    invalidates: ['listErrorRules'],
    showsErrors: true,
    done: 'Rule added',
    onDone: onAdded,
  });
  const body = {
    ...(task.trim() !== '' && { task }),
    ...(type.trim() !== '' && { type }),
    ...(message.trim() !== '' && { message }),
    groupKey: groupKey.trim(),
  };
  const hasPattern = 'task' in body || 'type' in body || 'message' in body;
  const shape = JSON.stringify([task, type, message]);
  const input = { params: { projectRef } };
  const error = preview.error ?? create.error;
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!hasPattern) return;
        setTried(shape);
        // The group key does not affect matching; a preview needs none.
        preview.mutate({ ...input, body: { ...body, groupKey: body.groupKey || 'preview' } });
      }}
    >
      <p className="muted">
        New errors that match all patterns go to the group with this key. <code>*</code> matches any text,{' '}
        <code>{String.raw`\*`}</code> a literal asterisk. An empty pattern matches everything.
      </p>
      <div className="rule-fields">
        <TextField
          label="Task"
          className="mono"
          value={task}
          onChange={(event) => setTask(event.target.value)}
          error={fieldError(error, 'task')}
        />
        <TextField
          label="Type"
          className="mono"
          value={type}
          onChange={(event) => setType(event.target.value)}
          error={fieldError(error, 'type')}
        />
      </div>
      <TextField
        label="Message"
        className="mono"
        placeholder="connect ETIMEDOUT*"
        value={message}
        onChange={(event) => setMessage(event.target.value)}
        error={fieldError(error, 'message')}
      />
      <TextField
        label="Group key"
        placeholder="network"
        maxLength={200}
        hint="Errors of a task form one group if their rules have the same key."
        value={groupKey}
        onChange={(event) => setGroupKey(event.target.value)}
        error={fieldError(create.error, 'groupKey')}
      />
      {error && (
        <p className="field-error" role="alert">
          {error.message}
        </p>
      )}
      {preview.data && <RulePreview preview={preview.data} isOutdated={tried !== shape} />}
      <div className="form-actions">
        <Button type="submit" icon="search" isBusy={preview.isPending} disabled={!hasPattern}>
          Try it on the latest failures
        </Button>
        {may('createErrorRule') && (
          <Button
            variant="main"
            isBusy={create.isPending}
            disabled={!hasPattern || body.groupKey === ''}
            onClick={() => create.mutate({ ...input, body })}
          >
            Add the rule
          </Button>
        )}
      </div>
    </form>
  );
}
