import {
  cloneElement,
  lazy,
  Suspense,
  useState,
  type ComponentType,
  type ReactElement,
  type ReactNode,
} from 'react';

/* Popups and their code are loaded when they are first opened, so that the first page loads a third less. */

interface HasTrigger {
  /** A `Button` or an `IconButton`. */
  readonly trigger: ReactElement<Record<string, unknown>>;
}

type Loader<P> = () => Promise<{ readonly default: ComponentType<P> }>;

/** A menu or a popover: its button is rendered immediately, the rest once the pointer is on it. */
export function lazyPopup<P extends HasTrigger>(
  load: Loader<P & { readonly startsOpen: boolean }>,
): ComponentType<P> {
  const Loaded = lazy(load) as unknown as ComponentType<P & { readonly startsOpen: boolean }>;
  return function LazyPopup(props: P) {
    const [isRequested, setRequested] = useState(false);
    const button = cloneElement(props.trigger, {
      'aria-haspopup': 'true',
      'aria-expanded': false,
      onPointerEnter: () => void load(),
      onFocus: () => void load(),
      onClick: () => setRequested(true),
    });
    return isRequested ? (
      <Suspense fallback={button}>
        <Loaded {...props} startsOpen />
      </Suspense>
    ) : (
      button
    );
  };
}

/** A dialog or a panel, which its page opens. `meanwhile` is shown until its code is loaded. */
export function lazyDialog<P extends { readonly isOpen: boolean }>(
  load: Loader<P>,
  meanwhile?: ReactNode,
): ComponentType<P> {
  const Loaded = lazy(load) as unknown as ComponentType<P>;
  return function LazyDialog(props: P) {
    const [wasOpened, setOpened] = useState(props.isOpen);
    if (props.isOpen && !wasOpened) setOpened(true);
    return wasOpened ? (
      <Suspense fallback={meanwhile}>
        <Loaded {...props} />
      </Suspense>
    ) : null;
  };
}
