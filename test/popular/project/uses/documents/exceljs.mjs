import ExcelJS from 'exceljs';

export default async () => {
  const book = new ExcelJS.Workbook();
  book.addWorksheet('one').addRow([1, 'two']);
  const again = new ExcelJS.Workbook();
  await again.xlsx.load(await book.xlsx.writeBuffer());
  return again.getWorksheet('one').getRow(1).values.slice(1);
};
