import { useId, useRef, useState } from 'react';
import { CompletionList } from '../../../parts/filter/completion-list.tsx';
import { isMac, usePartKeys } from '../../../parts/keyboard.ts';
import { completeJson, type JsonCompletion } from './complete-json.ts';
import type { Schema } from '../../../parts/schema/schema.ts';
import '../../../parts/menu.css';

interface PayloadEditorProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly schema: Schema | null;
  readonly error?: string | undefined;
}

/** Longer texts have no completion, so that typing stays fast. */
const maxCompleted = 50_000;

/** JSON as text, with completions from the schema. Ctrl-Space requests them; Tab or Enter accepts one. */
export function PayloadEditor({ value, onChange, schema, error }: PayloadEditorProps) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [offered, setOffered] = useState<readonly JsonCompletion[]>([]);
  const [active, setActive] = useState(0);

  const offer = (text: string, cursor: number): void => {
    setOffered(schema === null || text.length > maxCompleted ? [] : completeJson(text, cursor, schema));
    setActive(0);
  };
  const choose = (completion: JsonCompletion): void => {
    onChange(completion.text);
    setOffered([]);
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(completion.cursor, completion.cursor);
    });
  };
  const chosen = offered[active];
  const next = (by: number): void => setActive((active + by + offered.length) % offered.length);
  const onKeyDown = usePartKeys(
    'In the payload',
    [
      {
        keys: isMac ? 'Ctrl+Space' : 'Mod+Space',
        label: 'Show completions',
        run: () => offer(value, area.current?.selectionStart ?? 0),
      },
      ...(chosen
        ? [
            { keys: 'ArrowDown', label: 'Next completion', run: () => next(1) },
            { keys: 'ArrowUp', label: 'Previous completion', run: () => next(-1) },
            { keys: 'Tab', label: 'Accept the completion', run: () => choose(chosen) },
            { keys: 'Enter', label: 'Accept the completion', run: () => choose(chosen) },
            { keys: 'Escape', label: 'Close the completions', run: () => setOffered([]) },
          ]
        : []),
    ].map((shortcut) => ({ ...shortcut, whileTyping: true })),
  );

  return (
    <div className="field payload-editor">
      <label className="field-label" htmlFor={id}>
        Payload
      </label>
      <textarea
        ref={area}
        id={id}
        className="input code"
        rows={Math.min(24, Math.max(8, value.split('\n', 30).length + 1))}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        role="combobox"
        aria-expanded={offered.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={offered.length > 0 ? `${id}-${active}` : undefined}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={`${id}-hint${error === undefined ? '' : ` ${id}-error`}`}
        value={value}
        onChange={(event) => {
          onChange(event.target.value);
          offer(event.target.value, event.target.selectionStart);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setOffered([])}
      />
      <CompletionList
        id={id}
        className="payload-completions"
        offered={offered}
        active={active}
        onChoose={choose}
      />
      {/* While completions are offered, the text is incomplete. */}
      {error !== undefined && offered.length === 0 && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      <p className="field-hint" id={`${id}-hint`}>
        JSON. Leave it empty for no payload.{schema !== null && ' Ctrl-Space shows completions.'}
      </p>
    </div>
  );
}
