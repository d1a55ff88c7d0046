import { jsPDF } from 'jspdf';

/** A document with one page that says "Hello". */
export function helloPdf() {
  const document = new jsPDF();
  document.text('Hello', 10, 10);
  return new Uint8Array(document.output('arraybuffer'));
}
