import type { ComponentProps } from 'react';
import { useRowTabIndex } from '../row-tab-index.ts';

interface CellButtonProps extends Omit<ComponentProps<'button'>, 'type' | 'tabIndex'> {
  /** What a click does: "Only task:mail". */
  readonly tip: string;
}

/** A value in a row that is a button: it narrows the list to itself. */
export const CellButton = ({ tip, className = '', ...rest }: CellButtonProps) => (
  <button type="button" {...rest} tabIndex={useRowTabIndex()} className={`${className} cut`} data-tip={tip} />
);
