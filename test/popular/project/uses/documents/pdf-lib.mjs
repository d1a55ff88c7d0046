import { PDFDocument, StandardFonts } from 'pdf-lib';

export default async () => {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  document.addPage([200, 200]).drawText('Hello', { font, size: 20 });
  const bytes = await document.save();
  return (await PDFDocument.load(bytes)).getPageCount();
};
