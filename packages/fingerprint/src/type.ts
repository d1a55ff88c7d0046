import { bounds, storable, textOf } from './bounds.ts';

const className = /^[A-Za-z_$][\w$.:-]{0,120}$/;
const headerClass =
  /(?:^|\n)(?:Uncaught )?\[?([A-Za-z_$][\w$.]{0,100})(?: \[([\w.-]{1,60})\])?(?:: |\]?(?:\n|$| \{))/;

/** The class of an error: its name, or the class at the start of its stack if the name is generic. */
export function typeOf(name: unknown, stack: string): string {
  const errorName = storable(textOf(name, bounds.name)).trim();
  const own = className.test(errorName)
    ? plainClass(errorName)
    : errorName.replace(/\s+/g, ' ').replace(/\d+/g, '<n>').slice(0, 100);
  if (own !== '' && own !== 'Error' && own !== 'Object') return own;
  const header = headerClass.exec(stack.slice(0, bounds.line));
  if (!header) return own || 'Error';
  const fromHeader = plainClass(header[1] ?? '');
  return /(?:Error|Exception|Failure|Fault|Rejection|Timeout|Abort)\d?$/.test(fromHeader)
    ? fromHeader
    : own || 'Error';
}

/** The class name without the changes of bundlers and minifiers: `_Declined` and `Declined2` are `Declined`, `t` is nothing. */
export function plainClass(name: string): string {
  const last = name.slice(name.lastIndexOf('.') + 1);
  const plain = last.replace(/^_+(?=[A-Z])/, '').replace(/(?<=[a-z])[2-9]$/, '');
  return isMangled(plain) ? 'Error' : plain;
}

/** Names made by a minifier. They change with every build. */
export function isMangled(name: string): boolean {
  return (
    name.length <= 2 || (name.length === 3 && /[\d$]|^[a-z][A-Z]|^[A-Z]{2}[a-z]|^[A-Z][a-z][A-Z]/.test(name))
  );
}
