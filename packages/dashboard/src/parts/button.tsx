import { createContext, useContext, type ComponentProps, type ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';
import './button.css';

/** Tab goes through the controls of one row of a table, not of all: 0 in that row and -1 in the others. */
export const RowTabIndex = createContext<0 | -1 | undefined>(undefined);

/** The `tabIndex` of a link or a button; undefined outside of tables. */
export const useRowTabIndex = (): 0 | -1 | undefined => useContext(RowTabIndex);

interface ButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  readonly icon?: IconName;
  /** `main`: the one thing that the page is for. `danger`: it hurts. `plain`: without a frame. */
  readonly look?: 'main' | 'danger' | 'plain';
  /** It is being done: the button cannot be pressed, and keeps its size. */
  readonly isBusy?: boolean;
  /** Keys that do the same, shown on hover. */
  readonly shortcut?: string;
  readonly children: ReactNode;
}

/** Says what happens: "Cancel 412 runs". */
export const Button = ({
  icon,
  look,
  isBusy = false,
  shortcut,
  children,
  className = '',
  onClick,
  ...rest
}: ButtonProps) => (
  <button
    type="button"
    {...rest}
    tabIndex={useRowTabIndex() ?? rest.tabIndex}
    className={`button ${look ?? ''} ${className}`}
    // Not `disabled`: it would lose the focus.
    aria-disabled={isBusy || undefined}
    aria-busy={isBusy || undefined}
    onClick={isBusy ? (event) => event.preventDefault() : onClick}
    data-tip={shortcut === undefined ? undefined : `Key ${shortcut}`}
  >
    {icon && <Icon name={icon} size={14} />}
    <span>{children}</span>
  </button>
);

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children' | 'aria-label'> {
  readonly icon: IconName;
  /** What it does: the name for screen readers, and the tip. */
  readonly label: string;
  /** For one that is on or off. */
  readonly isPressed?: boolean;
}

export const IconButton = ({ icon, label, isPressed, className = '', ...rest }: IconButtonProps) => (
  <button
    type="button"
    {...rest}
    tabIndex={useRowTabIndex() ?? rest.tabIndex}
    className={`icon-button ${className}`}
    aria-label={label}
    aria-pressed={isPressed}
    data-tip={label}
  >
    <Icon name={icon} />
  </button>
);

interface CellButtonProps extends Omit<ComponentProps<'button'>, 'type' | 'tabIndex'> {
  /** What a click does: "Only task:mail". */
  readonly tip: string;
}

/** A value in a row that is a button: it narrows the list to itself. */
export const CellButton = ({ tip, className = '', ...rest }: CellButtonProps) => (
  <button type="button" {...rest} tabIndex={useRowTabIndex()} className={`${className} cut`} data-tip={tip} />
);
