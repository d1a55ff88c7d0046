import { filterWords } from '@millrace/contract/filter';
import { useEffect, useId, useRef, useState } from 'react';
import { IconButton } from '../button.tsx';
import { Icon } from '../icons.tsx';
import { focusMain } from '../focus.ts';
import { CompletionList } from './completion-list.tsx';
import { usePartKeys, useShortcuts } from '../keyboard.ts';
import { completions, type Completion, type FilterKey } from './complete.ts';
import './filter.css';
import '../menu.css';

interface FilterFieldProps {
  /** The filter in the address. */
  readonly value: string;
  /** Called on Enter, when a value is completed, and when the focus leaves. */
  readonly onChange: (value: string) => void;
  readonly keys: readonly FilterKey[];
  /** The reason why it is invalid. */
  readonly error?: string | undefined;
  readonly placeholder?: string;
  readonly label?: string;
}

/** A text filter with completions. The CLI accepts the same text. `f` focuses it. */
export function FilterField({
  value,
  onChange,
  keys,
  error,
  placeholder = 'Filter, such as status:failed since:2h',
  label = 'Filter',
}: FilterFieldProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const [offered, setOffered] = useState<readonly Completion[]>([]);
  const [active, setActive] = useState(-1);
  const [shownValue, setShownValue] = useState(value);
  const lastRequest = useRef(0);

  // Another filter came from a link or from Back.
  if (shownValue !== value) {
    setShownValue(value);
    setText(value);
  }
  useShortcuts([{ keys: 'f', label: 'Filter', run: () => input.current?.focus() }]);
  useEffect(() => () => void (lastRequest.current += 1), []);

  const offer = async (next: string, cursor: number): Promise<void> => {
    const request = (lastRequest.current += 1);
    const found = await completions(next, cursor, keys).catch(() => []);
    if (request !== lastRequest.current) return;
    setOffered(found);
    setActive(-1);
  };
  const close = (): void => {
    lastRequest.current += 1;
    setOffered([]);
    setActive(-1);
  };
  const submit = (next: string): void => {
    const trimmed = next.trim();
    if (trimmed !== value.trim()) onChange(trimmed);
  };
  const choose = (completion: Completion): void => {
    setText(completion.text);
    requestAnimationFrame(() => input.current?.setSelectionRange(completion.cursor, completion.cursor));
    if (completion.label.endsWith(':')) void offer(completion.text, completion.cursor);
    else {
      close();
      submit(completion.text);
    }
  };
  const next = (by: number): void => {
    if (offered.length === 0) void offer(text, input.current?.selectionStart ?? text.length);
    else setActive((before) => (before + by + offered.length) % offered.length);
  };
  const chosen = offered[active];
  const onKeyDown = usePartKeys(
    'In the filter',
    [
      { keys: 'ArrowDown', label: 'Next completion', run: () => next(1) },
      { keys: 'ArrowUp', label: 'Previous completion', run: () => next(active === -1 ? 0 : -1) },
      {
        keys: 'Enter',
        label: 'Accept the completion, or filter',
        run: () => {
          if (chosen) return choose(chosen);
          close();
          submit(text);
        },
      },
      ...(chosen ? [{ keys: 'Tab', label: 'Accept the completion', run: () => choose(chosen) }] : []),
      {
        keys: 'Escape',
        label: 'Close the completions, or leave the field',
        run: () => (offered.length > 0 ? close() : focusMain()),
      },
    ].map((shortcut) => ({ ...shortcut, whileTyping: true })),
  );

  return (
    <div className="filter">
      <div className={`filter-box ${error === undefined ? '' : 'is-wrong'}`}>
        <Icon name="search" size={14} />
        <div className="filter-text">
          <div className="filter-marks" aria-hidden="true">
            <Marks text={text} />
          </div>
          <input
            ref={input}
            className="filter-input"
            role="combobox"
            aria-label={label}
            aria-expanded={offered.length > 0}
            aria-controls={`${id}-list`}
            aria-autocomplete="list"
            aria-activedescendant={active === -1 ? undefined : `${id}-${active}`}
            aria-invalid={error !== undefined}
            aria-describedby={error === undefined ? undefined : `${id}-error`}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            placeholder={placeholder}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              void offer(event.target.value, event.target.selectionStart ?? event.target.value.length);
            }}
            onFocus={(event) => void offer(text, event.target.value.length)}
            onBlur={() => {
              close();
              submit(text);
            }}
            onKeyDown={onKeyDown}
            onScroll={(event) => {
              const marks = event.currentTarget.previousElementSibling;
              if (marks) marks.scrollLeft = event.currentTarget.scrollLeft;
            }}
          />
        </div>
        {text !== '' && (
          <IconButton
            icon="close"
            label="Clear the filter"
            onClick={() => {
              setText('');
              onChange('');
              input.current?.focus();
            }}
          />
        )}
      </div>
      <CompletionList id={id} className="filter-list" offered={offered} active={active} onChoose={choose} />
      {error !== undefined && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** The same text below the field, with a background for each word that has a key. */
function Marks({ text }: { readonly text: string }) {
  const words = filterWords(text);
  return words.map(({ key, from, to }, index) => {
    const before = text.slice(words[index - 1]?.to ?? 0, from);
    const keyEnd = key === undefined ? from : from + key.length + 1;
    return (
      <span key={from}>
        {before}
        <span className={key === undefined ? undefined : 'filter-word'}>
          <span className="muted">{text.slice(from, keyEnd)}</span>
          {text.slice(keyEnd, to)}
        </span>
      </span>
    );
  });
}
