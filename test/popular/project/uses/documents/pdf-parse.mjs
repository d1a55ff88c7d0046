import { PDFParse } from 'pdf-parse';
import { helloPdf } from '../../support/hello-pdf.mjs';

export default async () => {
  const parser = new PDFParse({ data: helloPdf() });
  const { text } = await parser.getText();
  await parser.destroy();
  return text.includes('Hello');
};
