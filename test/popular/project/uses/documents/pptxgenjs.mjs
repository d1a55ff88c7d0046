import PptxGenJS from 'pptxgenjs';

export default async () => {
  const show = new PptxGenJS();
  show.addSlide().addText('Hello', { x: 1, y: 1 });
  return (await show.write({ outputType: 'nodebuffer' })).subarray(0, 2).toString('latin1');
};
