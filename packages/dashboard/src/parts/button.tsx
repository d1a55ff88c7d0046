import type { ComponentProps, ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';
import { useRowTabIndex } from './row-tab-index.ts';
import './button.css';

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
