interface CompletionListProps<C> {
  /** Referenced by the field's `aria-controls`; its options by `aria-activedescendant`. */
  readonly id: string;
  readonly className: string;
  readonly offered: readonly C[];
  /** The index of the option that Enter selects. */
  readonly active: number;
  readonly onChoose: (completion: C) => void;
}

/** Completions for a text field. */
export const CompletionList = <
  C extends { readonly text: string; readonly label: string; readonly hint?: string | undefined },
>({
  id,
  className,
  offered,
  active,
  onChoose,
}: CompletionListProps<C>) => (
  <ul
    id={`${id}-list`}
    role="listbox"
    aria-label="Completions"
    // Otherwise browsers let Tab focus scrollable elements.
    tabIndex={-1}
    className={`menu ${className}`}
    hidden={offered.length === 0}
  >
    {offered.map((completion, index) => (
      <li
        key={completion.text}
        id={`${id}-${index}`}
        role="option"
        aria-selected={index === active}
        data-highlighted={index === active ? '' : undefined}
        className="menu-item"
        // The field keeps the focus.
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => onChoose(completion)}
      >
        <code className="cut">{completion.label}</code>
        {completion.hint && <span className="muted small cut">{completion.hint}</span>}
      </li>
    ))}
  </ul>
);
