import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import './tip.css';

interface TipState {
  readonly text: string;
  readonly anchor: Element;
}

const delayMs = 300;
const gap = 6;

/**
 * Shows the text of `data-tip` of the hovered or focused element. One for the whole page, in the frame, because lists have thousands of times
 * and ids.
 */
export function TipLayer() {
  const [tip, setTip] = useState<TipState>();
  const box = useRef<HTMLDivElement>(null);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hide = (): void => {
      clearTimeout(timer);
      setTip(undefined);
    };
    const show = (event: Event): void => {
      const anchor = event.target instanceof Element ? event.target.closest('[data-tip]') : null;
      clearTimeout(timer);
      if (!anchor) return setTip(undefined);
      const wait = event.type === 'focusin' ? 0 : delayMs;
      timer = setTimeout(() => {
        const text = anchor.getAttribute('data-tip');
        if (text && anchor.isConnected) setTip({ text, anchor });
      }, wait);
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') hide();
    };
    document.addEventListener('pointerover', show);
    document.addEventListener('focusin', show);
    document.addEventListener('focusout', hide);
    document.addEventListener('pointerdown', hide);
    document.addEventListener('keydown', onKey);
    window.addEventListener('scroll', hide, { capture: true, passive: true });
    return () => {
      hide();
      document.removeEventListener('pointerover', show);
      document.removeEventListener('focusin', show);
      document.removeEventListener('focusout', hide);
      document.removeEventListener('pointerdown', hide);
      document.removeEventListener('keydown', onKey);
      window.removeEventListener('scroll', hide, { capture: true });
    };
  }, []);

  useLayoutEffect(() => {
    if (!tip || !box.current) return;
    const at = tip.anchor.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = box.current;
    const left = Math.min(Math.max(gap, at.left), document.documentElement.clientWidth - width - gap);
    const above = at.top - height - gap;
    box.current.style.left = `${left}px`;
    box.current.style.top = `${above > gap ? above : at.bottom + gap}px`;
  }, [tip]);

  return (
    <div ref={box} className="tip" hidden={!tip} role="tooltip">
      {tip?.text}
    </div>
  );
}
