import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { helloPdf } from '../../support/hello-pdf.mjs';

/** Its worker is a module that is imported by a computed name. */
export default async () => {
  const document = await getDocument({ data: helloPdf() }).promise;
  const content = await (await document.getPage(1)).getTextContent();
  await document.destroy();
  return content.items.map(({ str }) => str);
};
