import { createContext, useContext, type ComponentProps, type ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';
import './button.css';

/** Tab moves through the controls of one row of a table, not of all: 0 in that row and -1 in the others. */
export const RowTabIndex = createContext<0 | -1 | undefined>(undefined);

/** The `tabIndex` of a link or a button; undefined outside of tables. */
export const useRowTabIndex = (): 0 | -1 | undefined => useContext(RowTabIndex);

interface ButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  readonly icon?: IconName;
  /** `main`: the main action of the page. `danger`: destructive. `plain`: without a frame. */
  readonly variant?: 'main' | 'danger' | 'plain';
  /** The action is in progress: the button cannot be pressed, and keeps its size. */
  readonly isBusy?: boolean;
  /** Keys that do the same, shown on hover. */
  readonly shortcut?: string;
  readonly children: ReactNode;
}

/** Its label names the effect: "Cancel 412 runs". */
export const Button = ({
  icon,
  variant,
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
    className={`button ${variant ?? ''} ${className}`}
    // Not `disabled`, which would lose the focus.
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
  /** The action: the name for screen readers, and the tooltip. */
  readonly label: string;
  /** For a toggle button. */
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
  /** The effect of a click: "Only task:mail". */
  readonly tip: string;
}

/** A value in a row that is a button: it filters the list by this value alone. */
export const CellButton = ({ tip, className = '', ...rest }: CellButtonProps) => (
  <button type="button" {...rest} tabIndex={useRowTabIndex()} className={`${className} cut`} data-tip={tip} />
);
