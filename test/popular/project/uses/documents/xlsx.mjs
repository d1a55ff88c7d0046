import * as xlsx from 'xlsx';

export default async () => {
  const book = xlsx.utils.book_new();
  xlsx.utils.book_append_sheet(book, xlsx.utils.aoa_to_sheet([[1, 'two']]), 'one');
  const again = xlsx.read(xlsx.write(book, { type: 'buffer' }));
  return xlsx.utils.sheet_to_csv(again.Sheets.one);
};
