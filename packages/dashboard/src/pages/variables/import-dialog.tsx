import type { EnvironmentVariable } from '@millrace/contract';
import { useState } from 'react';
import { useAct } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { CheckField, TextArea } from '../../parts/form/field.tsx';
import { FormError } from '../../parts/form/form-error.tsx';
import { countText } from '../../parts/count-text.ts';
import { namesIn } from './dotenv.ts';
import { outdated } from './revisions.ts';

interface ImportDialogProps {
  readonly isOpen: boolean;
  readonly variables: readonly EnvironmentVariable[];
  readonly onClose: () => void;
}

/** Sets many variables at once, all or none, from a text in the format of .env files. */
export const ImportDialog = ({ isOpen, variables, onClose }: ImportDialogProps) => (
  <Dialog isOpen={isOpen} onClose={onClose} title="Import variables" isWide>
    <ImportForm variables={variables} onClose={onClose} />
  </Dialog>
);

function ImportForm({ variables, onClose }: Omit<ImportDialogProps, 'isOpen'>) {
  const params = useEnvironmentPath();
  const [text, setText] = useState('');
  const [isSecret, setSecret] = useState(false);
  const [override, setOverride] = useState(false);
  const names = namesIn(text);
  const existing = names.filter((name) => variables.some((variable) => variable.name === name));
  const run = useAct('importVariables', {
    invalidates: outdated,
    showsErrors: true,
    done: `${countText(names.length, 'variable')} imported`,
    onDone: onClose,
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        run.mutate({ params, body: { variables: text, override, ...(isSecret && { isSecret }) } });
      }}
    >
      <TextArea
        label="Variables"
        code
        rows={10}
        placeholder={'LOG_LEVEL=debug\nSTRIPE_KEY="sk_live_…"'}
        hint="One NAME=value per line, as in a .env file."
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <label className="button variables-file">
        Read a .env file
        <input
          type="file"
          className="hidden-text"
          onChange={async (event) => {
            const input = event.target;
            const file = input.files?.[0];
            if (file) setText(await file.text());
            input.value = '';
          }}
        />
      </label>
      {names.length > 0 && (
        <p className="muted" role="status">
          {countText(names.length, 'variable')}: <code>{names.slice(0, 12).join(', ')}</code>
          {names.length > 12 && ` and ${names.length - 12} more`}
        </p>
      )}
      <CheckField
        label="Import as secrets"
        checked={isSecret}
        onChange={(event) => setSecret(event.target.checked)}
        hint="If not selected, existing variables keep their setting and new ones are readable."
      />
      <CheckField
        label="Replace existing values"
        checked={override}
        onChange={(event) => setOverride(event.target.checked)}
      />
      {existing.length > 0 && !override && (
        <p className="notice tone-warn">
          <span>
            {countText(existing.length, 'variable')} of these {existing.length === 1 ? 'has' : 'have'} a value
            already: <code>{existing.slice(0, 8).join(', ')}</code>. Nothing is imported unless you replace
            them.
          </span>
        </p>
      )}
      <FormError error={run.error} />
      <div className="form-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="main" isBusy={run.isPending} disabled={names.length === 0}>
          Import {countText(names.length, 'variable')}
        </Button>
      </div>
    </form>
  );
}
