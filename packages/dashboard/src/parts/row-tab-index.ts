import { createContext, useContext } from 'react';

/** Tab goes through the controls of one row of a table, not of all: 0 in that row and -1 in the others. */
export const RowTabIndex = createContext<0 | -1 | undefined>(undefined);

/** The `tabIndex` of a link or a button; undefined outside of tables. */
export const useRowTabIndex = (): 0 | -1 | undefined => useContext(RowTabIndex);
